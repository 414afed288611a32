#include "tests/support/library_cluster.hpp"

#include <atomic>

#include <unistd.h>

namespace bullring::test {

namespace {

/// 127.0.0.0/8 is all this host's; no other process takes the address with this one's number in it.
std::string own_host() {
    const auto pid = static_cast<unsigned>(::getpid());
    return "127." + std::to_string(100 + (pid >> 16) % 100) + "." +
           std::to_string(pid >> 8 & 0xff) + "." + std::to_string(1 + (pid & 0xff) % 254);
}

int next_ports(std::uint64_t count) {
    static std::atomic<int> next{20'000};
    return next.fetch_add(static_cast<int>(count));
}

}  // namespace

LibraryCluster::LibraryCluster(std::uint64_t nodes)
    : size_(nodes), host_(own_host()), first_port_(next_ports(nodes)) {}

std::string LibraryCluster::peers() const {
    std::string text;
    for (std::uint64_t id = 1; id <= size_; ++id)
        text += (id == 1 ? "" : ",") + std::to_string(id) + "=" + host_ + ":" +
                std::to_string(first_port_ + static_cast<int>(id));
    return text;
}

Options LibraryCluster::options(std::uint64_t id) const {
    Options options;
    options.id = id;
    options.peers = peers();
    options.profile = Profile::fast;
    options.first_epoch = FirstEpoch::zero;
    options.preempt = false;
    options.data_dir = directory_ / ("node-" + std::to_string(id));
    options.restart_delay = std::chrono::milliseconds(1);
    return options;
}

Resignation resign_when_possible(Node& node, std::chrono::nanoseconds timeout) {
    const auto limit = std::chrono::steady_clock::now() + generous;
    Resignation resigned;
    do {
        resigned = node.resign(0, timeout);
    } while (resigned.refused && std::chrono::steady_clock::now() < limit);
    return resigned;
}

}  // namespace bullring::test
