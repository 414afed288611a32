#include "tests/support/library_cluster.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace bullring::test {

LibraryCluster::LibraryCluster(std::uint64_t nodes, Leads leads) : size_(nodes), leads_(leads) {
    for (std::uint64_t id = 1; id <= size_; ++id) ports_.push_back(hold_port());
}

/// Bound and never listening: a node that binds with SO_REUSEADDR gets the port, the kernel gives
/// it to nobody, and as long as no node listens a connection to it is refused.
LibraryCluster::HeldPort LibraryCluster::hold_port() {
    OwnedFd held(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    // Shared only once it is chosen: until then nobody else's will do.
    const int share = 1;
    if (::bind(held.get(), address, size) != 0 || ::getsockname(held.get(), address, &size) != 0 ||
        ::setsockopt(held.get(), SOL_SOCKET, SO_REUSEADDR, &share, sizeof share) != 0)
        throw std::system_error(errno, std::generic_category(), "a port for a test's node");
    return {std::move(held), ntohs(at.sin_port)};
}

std::string LibraryCluster::peers(std::uint64_t count) const {
    std::string text;
    for (std::uint64_t id = 1; id <= count; ++id)
        text += (id == 1 ? "" : ",") + std::to_string(id) + "=" + address(id);
    return text;
}

Options LibraryCluster::options(std::uint64_t id) const {
    Options options;
    options.id = id;
    options.peers = peers();
    options.profile = Profile::fast;
    // All times scale with it: a machine that stands still costs nobody the leadership.
    options.lease = std::chrono::seconds(1);
    options.first_epoch = FirstEpoch::zero;
    options.preempt = leads_ == Leads::the_highest && id + 1 == size_;
    options.preempt_delay = std::chrono::milliseconds(1);
    options.data_dir = directory_ / ("node-" + std::to_string(id));
    options.restart_delay = std::chrono::milliseconds(1);
    if (leads_ == Leads::the_highest) {
        // Not all of them are there at the first start.
        options.bootstrap_wait = std::chrono::milliseconds(1);
        options.lease_max = options.lease;
    }
    return options;
}

Resignation resign_when_possible(Node& node, std::chrono::nanoseconds timeout) {
    const auto limit = std::chrono::steady_clock::now() + generous;
    Resignation resigned;
    do {
        resigned = node.resign(0, timeout);
    } while (resigned.refused && resigned.why.find("does not lead") == std::string::npos &&
             std::chrono::steady_clock::now() < limit);
    return resigned;
}

}  // namespace bullring::test
