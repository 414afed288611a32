#include "src/runtime/hooks.hpp"

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/temporary_directory.hpp"

namespace bullring::hooks_test {

using bullring::test::TemporaryDirectory;
using protocol::DeposedReason;
using protocol::Epoch;

namespace {

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Waits for what the hooks' thread reports.
class Done {
public:
    void operator()(Epoch epoch) {
        const std::lock_guard lock(mutex_);
        epochs_.push_back(epoch);
        changed_.notify_all();
    }
    bool wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20),
                                 [&] { return epochs_.size() >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Epoch> epochs_;
};

/// Takes what the hooks tell the node.
class Link final : public NodeLink {
public:
    explicit Link(Done& done) : done_(done) {}
    void tell(const protocol::Event& event) override {
        done_(std::get<protocol::TaskEnded>(event).epoch);
    }
    void stop(const std::string&) override {}
    void set_health(bool, const std::string&) override {}
    void set_willing(bool, const std::string&) override {}
    protocol::Instant untied_until() const override { return protocol::long_ago; }

private:
    Done& done_;
};

struct Running {
    Running(HookCommands commands, protocol::Duration step_down_timeout)
        : hooks(std::move(commands), {2}, "blue", step_down_timeout, link) {}
    Done done;
    Link link{done};
    Hooks hooks;
};

}  // namespace

TEST_CASE("hooks: they run one at a time, in order, and are told what has happened") {
    const TemporaryDirectory place;
    const std::string out = place / "out";
    const std::string say =
        R"(echo "$BULLRING_ID $BULLRING_CLUSTER $BULLRING_EPOCH [$BULLRING_LEADER] $BULLRING_ROLE $BULLRING_REASON" >> )" +
        out;
    Running running({.on_elected = say, .on_deposed = say, .on_change = say},
                    protocol::seconds(20));
    running.hooks.leader_changed({}, {{2}, {7}, ""});
    running.hooks.start({7});
    // on-elected may be dropped by a stop() that comes before it has begun.
    while (content(out).find("elected") == std::string::npos) std::this_thread::yield();
    running.hooks.leader_changed({}, {{}, {7}, ""});
    running.hooks.stop({7}, DeposedReason::resigned);
    REQUIRE(running.done.wait_for(1));
    CHECK(content(out) ==
          "2 blue 7 [2] leader change\n"
          "2 blue 7 [2] leader elected\n"
          "2 blue 7 [] follower change\n"
          "2 blue 7 [] follower resigned\n");
}

TEST_CASE("hooks: the end is reported after on-deposed, and without one after what still runs") {
    const TemporaryDirectory place;
    const std::string out = place / "out";
    Running running({.on_elected = "echo begun >> " + out + "; sleep 0.05; echo ended >> " + out,
                     .on_deposed = "",
                     .on_change = ""},
                    protocol::seconds(20));
    running.hooks.start({7});
    while (content(out).empty()) std::this_thread::yield();
    running.hooks.stop({7}, DeposedReason::resigned);
    REQUIRE(running.done.wait_for(1));
    CHECK(content(out) == "begun\nended\n");
}

TEST_CASE("hooks: a command that does not end is killed with its whole group in time") {
    const TemporaryDirectory place;
    const std::string out = place / "pid";
    Running running({.on_elected = "",
                     .on_deposed = "sleep 1000 & echo $! > " + out + "; wait",
                     .on_change = ""},
                    protocol::milliseconds(200));
    running.hooks.stop({7}, DeposedReason::lease_expired);
    REQUIRE(running.done.wait_for(1));
    const pid_t sleeper = static_cast<pid_t>(std::stol(content(out)));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (::kill(sleeper, 0) == 0 && std::chrono::steady_clock::now() < deadline) {
        // It may be a zombie that nobody reaps: that is dead too.
        std::ifstream stat("/proc/" + std::to_string(sleeper) + "/stat");
        std::string pid;
        std::string name;
        std::string state;
        stat >> pid >> name >> state;
        if (state == "Z") break;
        std::this_thread::yield();
    }
    CHECK(std::chrono::steady_clock::now() < deadline);
}

TEST_CASE("hooks: an on-elected that hangs leaves time for on-deposed") {
    const TemporaryDirectory place;
    const std::string out = place / "out";
    Running running({.on_elected = "echo begun >> " + out + "; sleep 1000",
                     .on_deposed = "echo deposed >> " + out,
                     .on_change = ""},
                    protocol::milliseconds(2000));
    running.hooks.start({7});
    while (content(out).empty()) std::this_thread::yield();
    running.hooks.stop({7}, DeposedReason::stopped);
    REQUIRE(running.done.wait_for(1));
    CHECK(content(out) == "begun\ndeposed\n");
}

TEST_CASE("hooks: the stdout of a command is the stderr of the node") {
    const TemporaryDirectory place;
    const std::string out = place / "out";
    Running running({.on_elected = "",
                     .on_deposed = "[ /dev/stdout -ef /dev/stderr ] && echo same >> " + out,
                     .on_change = ""},
                    protocol::seconds(20));
    running.hooks.stop({7}, DeposedReason::stopped);
    REQUIRE(running.done.wait_for(1));
    CHECK(content(out) == "same\n");
}

}  // namespace bullring::hooks_test
