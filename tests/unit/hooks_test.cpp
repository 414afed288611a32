#include "src/task/hooks.hpp"

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/temporary_files.hpp"

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
    void operator()(const protocol::TaskEnded& ended) {
        const std::lock_guard lock(mutex_);
        ends_.push_back(ended);
        changed_.notify_all();
    }
    std::vector<protocol::TaskEnded> all() {
        const std::lock_guard lock(mutex_);
        return ends_;
    }
    bool wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20),
                                 [&] { return ends_.size() >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<protocol::TaskEnded> ends_;
};

/// Takes what the hooks tell the node.
class Link final : public NodeLink {
public:
    explicit Link(Done& done) : done_(done) {}
    void tell(const protocol::Event& event) override {
        done_(std::get<protocol::TaskEnded>(event));
    }
    void shut_down(const std::string&) override {}
    void set_health(bool, const std::string&) override {}
    void set_joining(const std::string&) override {}
    void set_willing(bool, const std::string&) override {}
    void task_runs(bool, const std::string&) override {}
    protocol::Instant untied_until() const override { return protocol::long_ago; }
    void listen(NodeListener& listener) override { listeners.push_back(&listener); }

    std::vector<NodeListener*> listeners;

private:
    Done& done_;
};

/// A host inside whose end the test decides.
class Inner final : public TaskHost, public NodeListener {
public:
    explicit Inner(NodeLink& node) : node_(node) { node.listen(*this); }
    void publish(const protocol::Publish&) override { ++heard; }
    void stopping() override { ++heard; }
    void leader_changed(protocol::Instant, const protocol::LeaderChanged&) override { ++heard; }
    void elected(protocol::Instant, const protocol::Elected&) override { ++heard; }
    void deposed(protocol::Instant, const protocol::Deposed&) override { ++heard; }
    void resign_answered(const protocol::ResignAnswer&) override { ++heard; }
    int exit_status() const override { return 7; }
    void start(Epoch) override { started = true; }
    void stop(Epoch, DeposedReason) override { stopped = true; }
    void end(const protocol::TaskEnded& ended) { node_.tell(ended); }

    int heard = 0;
    bool started = false;
    bool stopped = false;

private:
    NodeLink& node_;
};

struct Running {
    Running(HookCommands commands, protocol::Duration step_down_timeout,
            const MakeHost& make_inner = {})
        : hooks(io, link, std::move(commands), config(), step_down_timeout, make_inner) {}
    static protocol::Config config() {
        protocol::Config config;
        config.self = {2};
        config.cluster = "blue";
        return config;
    }
    void leader_changed(const protocol::LeaderChanged& change) {
        for (NodeListener* one : link.listeners) one->leader_changed({}, change);
    }

    asio::io_context io;
    Done done;
    Link link{done};
    Hooks hooks;
};

}  // namespace

TEST_CASE("hooks: they run one at a time, in order, and are told what has happened") {
    const TemporaryDirectory place;
    const std::string out = place / "out";
    const std::string say =
        R"(echo "$BULLRING_NODE_ID $BULLRING_CLUSTER_NAME $BULLRING_EPOCH [$BULLRING_LEADER] $BULLRING_ROLE $BULLRING_REASON" >> )" +
        out;
    Running running({.on_elected = say, .on_deposed = say, .on_change = say},
                    protocol::seconds(20));
    running.leader_changed({{2}, {7}, ""});
    running.hooks.start({7});
    // on-elected may be dropped by a stop() that comes before it has begun.
    while (content(out).find("elected") == std::string::npos) std::this_thread::yield();
    running.leader_changed({{}, {7}, ""});
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
    running.hooks.start({7});
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
    running.hooks.start({7});
    running.hooks.stop({7}, DeposedReason::stopped);
    REQUIRE(running.done.wait_for(1));
    CHECK(content(out) == "same\n");
}

TEST_CASE("hooks: on-deposed runs when what works inside has ended, and with its reason") {
    const TemporaryDirectory place;
    const std::string out = place / "out";
    Inner* inner = nullptr;
    Running running({.on_elected = "",
                     .on_deposed = "echo $BULLRING_EPOCH $BULLRING_REASON >> " + out,
                     .on_change = "echo changed >> " + out},
                    protocol::seconds(20), [&](asio::io_context&, NodeLink& node) {
                        auto host = std::make_unique<Inner>(node);
                        inner = host.get();
                        return host;
                    });
    running.hooks.start({7});
    CHECK(inner->started);
    running.hooks.stop({7}, DeposedReason::resigned);
    CHECK(inner->stopped);
    // Hooks run in order: what is asked for now would run after it.
    running.leader_changed({{}, {7}, ""});
    while (content(out).empty()) std::this_thread::yield();
    CHECK(content(out) == "changed\n");
    CHECK(running.done.all().empty());
    inner->end({{7}, false, false});
    REQUIRE(running.done.wait_for(1));
    CHECK(content(out) == "changed\n7 resigned\n");

    // By itself, and its end is told as it was.
    running.hooks.start({8});
    inner->end({{8}, true, true});
    inner->end({{8}, true, true});
    REQUIRE(running.done.wait_for(2));
    CHECK(content(out) == "changed\n7 resigned\n8 task_failed\n");
    running.hooks.start({9});
    inner->end({{9}, false, false});
    REQUIRE(running.done.wait_for(3));
    CHECK(content(out) == "changed\n7 resigned\n8 task_failed\n9 lease_expired\n");
    CHECK(running.done.all() == std::vector<protocol::TaskEnded>{
                                    {{7}, false, false}, {{8}, true, true}, {{9}, false, false}});
}

/// Hooks the first of which, on-change, runs until it is told to end.
struct HeldUp {
    explicit HeldUp(const MakeHost& make_inner = {})
        : running(
              {.on_elected = "echo elected $BULLRING_EPOCH >> " + out,
               .on_deposed = "echo deposed $BULLRING_EPOCH >> " + out,
               .on_change = "echo >> " + begun + "; until [ -e " + go + " ]; do sleep 0.01; done"},
              protocol::seconds(40), make_inner) {
        running.leader_changed({{}, {6}, ""});
        while (content(begun).empty()) std::this_thread::yield();
    }
    void let_go() const { std::ofstream(go) << "go"; }

    TemporaryDirectory place;
    std::string out = place / "out";
    std::string begun = place / "begun";
    std::string go = place / "go";
    Running running;
};

TEST_CASE("hooks: a leadership that ends before on-elected has begun has neither of the two") {
    HeldUp held;
    Running& running = held.running;
    running.hooks.start({7});
    running.hooks.stop({7}, DeposedReason::resigned);
    held.let_go();
    REQUIRE(running.done.wait_for(1));
    CHECK(content(held.out).empty());
    running.hooks.start({8});
    while (content(held.out).empty()) std::this_thread::yield();
    running.hooks.stop({8}, DeposedReason::resigned);
    REQUIRE(running.done.wait_for(2));
    CHECK(content(held.out) == "elected 8\ndeposed 8\n");
}

TEST_CASE("hooks: after a command on-deposed runs, also when on-elected has not begun") {
    Inner* inner = nullptr;
    HeldUp held([&](asio::io_context&, NodeLink& node) {
        auto host = std::make_unique<Inner>(node);
        inner = host.get();
        return host;
    });
    held.running.hooks.start({7});
    CHECK(inner->started);
    inner->end({{7}, true, false});
    held.let_go();
    REQUIRE(held.running.done.wait_for(1));
    CHECK(content(held.out) == "deposed 7\n");
}

TEST_CASE("hooks: what is told to the host inside them, and of it, comes through") {
    Inner* inner = nullptr;
    Running running({.on_elected = "", .on_deposed = "", .on_change = ""}, protocol::seconds(20),
                    [&](asio::io_context&, NodeLink& node) {
                        auto host = std::make_unique<Inner>(node);
                        inner = host.get();
                        return host;
                    });
    running.hooks.publish({});
    running.hooks.stopping();
    CHECK(inner->heard == 2);
    CHECK(running.hooks.exit_status() == 7);
    REQUIRE(running.link.listeners.size() == 1);
    NodeListener& listener = *running.link.listeners.front();
    listener.leader_changed({}, {});
    listener.elected({}, {});
    listener.deposed({}, {});
    listener.resign_answered({});
    CHECK(inner->heard == 6);
}

}  // namespace bullring::hooks_test
