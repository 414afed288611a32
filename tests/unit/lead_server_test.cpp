#include "src/task/supervisor/lead_server.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/os/clock.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/settings/data_files.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::lead_server_test {

using bullring::test::TemporaryDirectory;
using protocol::Epoch;
using protocol::seconds;

namespace {

constexpr Epoch epoch{7};

class Link final : public NodeLink {
public:
    void tell(const protocol::Event&) override {}
    void shut_down(const std::string&) override {}
    void set_health(bool, const std::string&) override {}
    void set_joining(const std::string&) override {}
    void set_willing(bool, const std::string&) override {}
    void task_runs(bool, const std::string&) override {}
    protocol::Instant untied_until() const override { return read_clock() + seconds(60); }
    void listen(NodeListener&) override {}
    void lead_commands(std::size_t count) override { commands = count; }

    std::size_t commands = 0;
};

NodeOptions options_in(const std::string& directory) {
    NodeOptions options;
    options.config.self = {2};
    options.config.timing.lease = seconds(1);
    options.config.timing.heartbeat = protocol::milliseconds(100);
    options.data_dir = directory;
    return options;
}

/// A node that leads, and one `bullring lead` that has asked it.
struct Asked {
    explicit Asked(std::vector<int> locks)
        : server(io, link, options, pulse, std::move(locks), {}) {
        server.start(epoch);
        client = *connect_locally(options.data_dir, lead_socket_name, SOCK_SEQPACKET);
        const LeadRequest request;
        REQUIRE(send_record(client.get(), &request, sizeof request));
        renew();
    }

    void renew() {
        io.restart();
        io.poll();
        protocol::Publish publish{};
        publish.epoch = epoch;
        publish.deadline = publish.untied_until = read_clock() + seconds(60);
        server.publish(publish);
    }

    /// The answers so far, and whether a descriptor came with each.
    std::vector<std::pair<LeadAnswer::Kind, bool>> answers() {
        std::vector<std::pair<LeadAnswer::Kind, bool>> all;
        LeadAnswer answer;
        OwnedFd descriptor;
        while (receive_record(client.get(), &answer, sizeof answer, descriptor) > 0)
            all.emplace_back(answer.kind, static_cast<bool>(std::exchange(descriptor, OwnedFd())));
        return all;
    }

    TemporaryDirectory place;
    NodeOptions options = options_in(place / ".");
    asio::io_context io;
    Link link;
    LoopPulse pulse;
    LeadServer server;
    OwnedFd client;
};

}  // namespace

TEST_CASE("lead server: a command begins with all locks of the directory") {
    const OwnedFd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    Asked asked({one.get(), one.get()});
    CHECK(asked.answers() ==
          std::vector<std::pair<LeadAnswer::Kind, bool>>{{LeadAnswer::Kind::lock, true},
                                                         {LeadAnswer::Kind::lock, true},
                                                         {LeadAnswer::Kind::go, true}});
    CHECK(asked.pulse.others_work.load() == LoopPulse::lead_works);
    CHECK(asked.link.commands == 1);
}

TEST_CASE("lead server: no command begins while a lock can't be handed over") {
    constexpr int number = 900;  // nothing is open by that
    Asked asked({number});
    CHECK(asked.answers().empty());
    CHECK(asked.pulse.others_work.load() == 0);
    CHECK(asked.link.commands == 0);
    const OwnedFd lock(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, number));
    REQUIRE(lock.get() == number);
    asked.renew();
    CHECK(asked.answers() == std::vector<std::pair<LeadAnswer::Kind, bool>>{
                                 {LeadAnswer::Kind::lock, true}, {LeadAnswer::Kind::go, true}});
}

}  // namespace bullring::lead_server_test
