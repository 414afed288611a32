#include "src/task/attach/attach_server.hpp"

#include <array>
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>
#include <sys/socket.h>

#include "src/base/os/clock.hpp"
#include "src/settings/data_files.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::attach_server_test {

using bullring::test::TemporaryDirectory;
using protocol::Epoch;
using protocol::milliseconds;

namespace {

constexpr Epoch epoch{7};

class Link final : public NodeLink {
public:
    void tell(const protocol::Event& event) override {
        if (const auto* end = std::get_if<protocol::TaskEnded>(&event)) ended.push_back(*end);
    }
    void shut_down(const std::string&) override {}
    void set_health(bool, const std::string&) override {}
    void set_joining(const std::string&) override {}
    void set_willing(bool, const std::string&) override {}
    void task_runs(bool, const std::string&) override {}
    protocol::Instant untied_until() const override { return until; }
    void listen(NodeListener&) override {}
    void attached(std::size_t, const std::optional<AttachedHolder>&) override {}

    protocol::Instant until;
    std::vector<protocol::TaskEnded> ended;
};

NodeOptions options_in(const std::string& directory) {
    NodeOptions options;
    options.config.self = {2};
    options.config.timing.lease = milliseconds(200);
    options.config.timing.heartbeat = milliseconds(20);
    options.data_dir = directory;
    return options;
}

/// A node without work of its own, which leads, and a process that leads through it.
struct Led {
    Led() {
        say("{\"op\":\"campaign\"}\n");
        server.start(epoch);
        link.until = read_clock() + options.config.timing.lease;
        protocol::Publish publish{};
        publish.epoch = epoch;
        publish.deadline = publish.untied_until = link.until;
        publish.may_be_outlived = true;
        wait_for("attached");
        server.publish(publish);
        wait_for("elected");
    }

    void say(const std::string& line) {
        REQUIRE(::send(client.get(), line.data(), line.size(), 0) ==
                static_cast<ssize_t>(line.size()));
    }

    void wait_for(const std::string& event) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (heard.find("\"event\":\"" + event) == std::string::npos) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            io.restart();
            io.run_one_for(std::chrono::milliseconds(100));
            std::array<char, 4096> bytes{};
            const ssize_t count = ::recv(client.get(), bytes.data(), bytes.size(), 0);
            if (count > 0) heard.append(bytes.data(), static_cast<std::size_t>(count));
        }
    }

    TemporaryDirectory place;
    NodeOptions options = options_in(place / ".");
    asio::io_context io;
    Link link;
    LoopPulse pulse;
    Undertaker undertaker{{}};
    AttachServer server{io, link, options, pulse, {undertaker, false, {}}, {}, false};
    OwnedFd client = *connect_locally(options.data_dir, attach_socket_name, SOCK_STREAM);
    std::string heard;
};

}  // namespace

TEST_CASE("attach server: the node learns that a client has ended that its lease has told to end") {
    Led led;
    led.wait_for("stop");
    led.say("{\"op\":\"done\"}\n");
    led.wait_for("released");
    CHECK(led.link.ended == std::vector{protocol::TaskEnded{epoch}});
}

}  // namespace bullring::attach_server_test
