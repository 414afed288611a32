// The library as its user sees it: nodes in one process, over real sockets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <bullring/bullring.hpp>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/library_cluster.hpp"

namespace bullring::library_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using namespace test;

struct Led {
    std::uint64_t node;
    std::uint64_t epoch;
};

/// All nodes of a cluster, each with a task that notes its leadership and works until it ends.
class Workers {
public:
    explicit Workers(std::uint64_t nodes,
                     LibraryCluster::Leads leads = LibraryCluster::Leads::whoever_comes_first)
        : cluster_(nodes, leads) {
        for (std::uint64_t id = 1; id <= nodes; ++id) nodes_.push_back(cluster_.node(id));
    }
    void start() {
        for (std::uint64_t id = 1; id <= nodes_.size(); ++id) start(id);
    }
    void start(std::uint64_t id) {
        node(id).start_while_leader([this, id](const Leadership& lead) { work(id, lead); });
    }
    void work(std::uint64_t id, const Leadership& lead) {
        if (alone_.exchange(true)) overlaps_ = true;
        led.add({id, lead.epoch()});
        while (lead.wait_for(test::generous)) {
        }
        alone_ = false;
    }
    Node& node(std::uint64_t id) { return *nodes_[id - 1]; }
    const LibraryCluster& cluster() const { return cluster_; }
    bool has_led_after(std::uint64_t epoch) {
        return led.wait_for([epoch](const std::vector<Led>& all) {
            return !all.empty() && all.back().epoch > epoch;
        });
    }
    /// Ends all; then nothing may have overlapped, and epochs have risen.
    void finish() {
        for (const auto& one : nodes_) one->stop();
        CHECK_FALSE(overlaps_);
        const std::vector<Led> all = led.all();
        CHECK(std::is_sorted(all.begin(), all.end(),
                             [](const Led& a, const Led& b) { return a.epoch < b.epoch; }));
    }

    Notes<Led> led;

private:
    LibraryCluster cluster_;
    std::atomic<bool> alone_{false};
    std::atomic<bool> overlaps_{false};
    std::vector<std::unique_ptr<Node>> nodes_;
};

std::vector<std::string> reasons(const std::vector<Change>& changes) {
    std::vector<std::string> found;
    for (const Change& change : changes)
        if (change.kind == Change::Kind::deposed) found.push_back(change.reason);
    return found;
}

}  // namespace

TEST_CASE("library: a task runs while its node leads, and stop() ends both") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    std::thread other;
    std::uint64_t epoch = 0;
    node.run_while_leader([&](const Leadership& lead) {
        epoch = lead.epoch();
        CHECK(lead.valid());
        CHECK(lead.time_left() > std::chrono::nanoseconds(0));
        CHECK(node.leader() == Leader{1, epoch, ""});
        CHECK(node.status().role == "leader");
        CHECK_FALSE(lead.stop_token().stop_requested());
        other = std::thread([&] { node.stop(); });
        CHECK_FALSE(lead.wait_for(test::generous));
        CHECK_FALSE(lead.valid());
        CHECK(lead.time_left() == std::chrono::nanoseconds(0));
    });
    other.join();
    CHECK(epoch == 1);
    CHECK(node.status().role == "stopped");
    CHECK_FALSE(node.leader());
}

TEST_CASE("library: a resign moves the leadership, the task first") {
    Workers workers(3);
    workers.start();
    REQUIRE(workers.led.wait_for_count(1));
    const std::uint64_t first = workers.led.all()[0].node;
    Notes<Change> changes;
    const Subscription subscription =
        workers.node(first).subscribe([&](const Change& change) { changes.add(change); });
    CHECK(test::resign_when_possible(workers.node(first), test::generous).done);
    REQUIRE(workers.led.wait_for_count(2));
    CHECK(workers.led.all()[1].node != first);
    REQUIRE(changes.wait_for([](const auto& all) { return !reasons(all).empty(); }));
    CHECK(reasons(changes.all()) == std::vector<std::string>{"resigned"});
    const Resignation again = workers.node(first).resign();
    CHECK_FALSE(again.done);
    CHECK(again.refused);
    CHECK(again.why.find("does not lead") != std::string::npos);
    workers.finish();
}

TEST_CASE("library: what a task throws reaches the caller, and another node leads") {
    Workers workers(3, LibraryCluster::Leads::the_highest);
    workers.start(2);
    std::uint64_t epoch = 0;
    CHECK_THROWS_WITH_AS(workers.node(3).run_while_leader([&](const Leadership& lead) {
        epoch = lead.epoch();
        throw std::runtime_error("no queue");
    }),
                         "no queue", std::runtime_error);
    workers.start(1);
    CHECK(workers.has_led_after(epoch));
    CHECK(workers.node(3).status().role == "follower");
    workers.finish();
}

TEST_CASE("library: an exception in the library's own thread comes out of stop()") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    Notes<int> ran;
    node.start_while_leader([&](const Leadership&) {
        ran.add(1);
        throw std::runtime_error("no queue");
    });
    REQUIRE(ran.wait_for_count(1));
    CHECK_THROWS_WITH(node.stop(), "no queue");
    node.stop();
    Node told(cluster.options(1));
    Notes<int> errors;
    told.start_while_leader([](const Leadership&) { throw std::runtime_error("no queue"); },
                            [&](const std::exception_ptr&) { errors.add(1); });
    REQUIRE(errors.wait_for_count(1));
    told.stop();
}

TEST_CASE("library: a task that returns by itself hands over, and its node stands again") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    Notes<std::uint64_t> epochs;
    node.start_while_leader([&](const Leadership& lead) { epochs.add(lead.epoch()); });
    REQUIRE(epochs.wait_for_count(3));
    node.stop();
    const auto all = epochs.all();
    CHECK(std::is_sorted(all.begin(), all.end()));
    CHECK(all[0] != all[1]);
}

TEST_CASE("library: a task that shows no progress loses the leadership, and blocks its own node") {
    Workers workers(3, LibraryCluster::Leads::the_highest);
    Options options = workers.cluster().options(3);
    options.stall_after = std::chrono::milliseconds(50);
    Node stalling(options);
    Notes<Change> changes;
    const Subscription subscription =
        stalling.subscribe([&](const Change& change) { changes.add(change); });
    std::atomic<bool> released{false};
    Notes<std::uint64_t> stalls;
    stalling.start_while_leader([&](const Leadership& lead) {
        for (int i = 0; i < 20 && lead.wait_for(std::chrono::milliseconds(10)); ++i)
            lead.report_progress();
        stalls.add(lead.epoch());
        while (!released) std::this_thread::yield();
    });
    workers.start(2);
    REQUIRE(stalls.wait_for_count(1));
    workers.start(1);
    // The others lead although the task has not returned.
    REQUIRE(workers.has_led_after(stalls.all()[0]));
    CHECK(reasons(changes.all()).empty());
    released = true;
    REQUIRE(changes.wait_for([](const auto& all) { return !reasons(all).empty(); }));
    CHECK(reasons(changes.all())[0] == "stalled");
    stalling.stop();
    workers.finish();
}

TEST_CASE("library: without a majority stop is requested in time for the task to end") {
    constexpr std::chrono::milliseconds margin(1000);  // enough for any pause of a busy machine
    const LibraryCluster cluster(3, LibraryCluster::Leads::the_highest);
    std::vector<std::unique_ptr<Node>> nodes;
    for (const std::uint64_t id : {2U, 3U}) {
        Options options = cluster.options(id);
        options.lease = options.lease_max = std::chrono::milliseconds(2000);
        options.stop_margin = margin;
        nodes.push_back(std::make_unique<Node>(options));
    }
    Notes<Change> changes;
    const Subscription subscription =
        nodes[1]->subscribe([&](const Change& change) { changes.add(change); });
    Notes<int> led;
    std::atomic<std::int64_t> left_at_stop{0};
    std::atomic<std::int64_t> returned_at{0};
    const auto now = [] {
        timespec time{};
        ::clock_gettime(CLOCK_BOOTTIME, &time);
        return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    nodes[1]->start_while_leader([&](const Leadership& lead) {
        led.add(1);
        std::chrono::nanoseconds lease_end(0);
        while (lead.wait_for(std::chrono::milliseconds(10)))
            if (const auto left = lead.time_left(); left.count() != 0) lease_end = now() + left;
        left_at_stop = (lease_end - now()).count();
        for (int i = 0; i < 20; ++i) nodes[1]->status();  // its loop could end the leadership
        returned_at = now().count();
    });
    nodes[0]->start();
    REQUIRE(led.wait_for_count(1));
    nodes[0]->stop();
    REQUIRE(changes.wait_for([](const auto& all) { return !reasons(all).empty(); }));
    const std::vector<Change> all = changes.all();
    CHECK(reasons(all) == std::vector<std::string>{"lease_expired"});
    CHECK(std::chrono::nanoseconds(left_at_stop) > std::chrono::nanoseconds(0));
    CHECK(std::chrono::nanoseconds(left_at_stop) <= margin);
    // The task held the lease, to its own end.
    CHECK(changes.all().back().at.count() >= returned_at);
}

TEST_CASE("library: subscribers hear both edges in order, and end when they are told to") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    Notes<Change> changes;
    Subscription subscription = node.subscribe([&](const Change& c) { changes.add(c); });
    node.start();
    const auto has = [](Change::Kind kind) {
        return [kind](const std::vector<Change>& all) {
            return std::any_of(all.begin(), all.end(),
                               [&](const Change& c) { return c.kind == kind; });
        };
    };
    REQUIRE(changes.wait_for(has(Change::Kind::elected)));
    node.stop();
    REQUIRE(changes.wait_for(has(Change::Kind::deposed)));
    const std::vector<Change> all = changes.all();
    CHECK_FALSE(all[0].leader);
    CHECK(std::is_sorted(all.begin() + 1, all.end(),
                         [](const Change& a, const Change& b) { return a.at < b.at; }));
    CHECK(reasons(all) == std::vector<std::string>{"stopped"});
    subscription.reset();
    subscription.reset();
}

TEST_CASE("library: a subscription may end itself, and outlive its node") {
    const LibraryCluster cluster(1);
    Notes<int> calls;
    Subscription inside;
    Subscription outlives;
    {
        Node node(cluster.options(1));
        std::atomic<bool> ready{false};
        inside = node.subscribe([&](const Change&) {
            while (!ready) std::this_thread::yield();
            inside.reset();
            calls.add(1);
        });
        ready = true;
        outlives = node.subscribe([](const Change&) {});
        REQUIRE(calls.wait_for_count(1));
        node.start();
    }
    CHECK(calls.all().size() == 1);
}

TEST_CASE("library: a slow subscriber delays no election") {
    const LibraryCluster cluster(1);
    Options options = cluster.options(1);
    options.restart_delay = std::chrono::nanoseconds(0);
    Node node(options);
    std::atomic<bool> slow{true};
    Notes<std::uint64_t> epochs;
    const Subscription subscription = node.subscribe([&](const Change&) {
        while (slow) std::this_thread::yield();
    });
    node.start_while_leader([&](const Leadership& lead) { epochs.add(lead.epoch()); });
    REQUIRE(epochs.wait_for_count(5));
    slow = false;
    node.stop();
}

TEST_CASE("library: an observer follows the leader from outside") {
    Workers workers(3);
    workers.start();
    Observer observer(workers.cluster().peers());
    const auto leader = observer.wait_for_leader(test::generous);
    REQUIRE(leader);
    REQUIRE(workers.led.wait_for_count(1));
    CHECK(leader->epoch == workers.led.all()[0].epoch);
    Notes<Change> changes;
    const Subscription subscription =
        observer.subscribe([&](const Change& change) { changes.add(change); });
    REQUIRE(test::resign_when_possible(workers.node(leader->id), test::generous).done);
    REQUIRE(changes.wait_for([&](const auto& all) {
        return std::any_of(all.begin(), all.end(), [&](const Change& change) {
            return change.leader && change.leader->id != leader->id;
        });
    }));
    workers.finish();
}

TEST_CASE("library: all that is wrong with the options is told at once") {
    Options options;
    options.peers = "1=a:1,2=b";
    options.cluster = "";
    options.lease = std::chrono::milliseconds(-5);
    options.priority = 2000;
    options.advertise = std::string(300, 'x');
    const auto problems = options.problems();
    CHECK(problems.size() >= 5);
    try {
        const Node node(options);
        FAIL("it was accepted");
    } catch (const ConfigError& error) {
        CHECK(error.problems() == problems);
        CHECK(std::string(error.what()).find("priority") != std::string::npos);
    }
    const LibraryCluster cluster(3);
    Options margin = cluster.options(1);
    CHECK(margin.problems().empty());
    margin.stop_margin = std::chrono::seconds(1);
    REQUIRE(margin.problems().size() == 1);
    CHECK(margin.problems()[0].find("must be < lease") != std::string::npos);
    CHECK_THROWS_AS(Observer("nonsense"), ConfigError);
    CHECK_THROWS_AS(Observer(""), ConfigError);
}

TEST_CASE("library: a task is refused without a majority, and beside another one") {
    const LibraryCluster cluster(1);
    Options options = cluster.options(1);
    options.quorum = Quorum::none;
    Node none(options);
    CHECK_THROWS_AS(none.run_while_leader([](const Leadership&) {}), ConfigError);
    CHECK_THROWS_AS(none.start_while_leader([](const Leadership&) {}), ConfigError);
    Node node(cluster.options(1));
    node.start_while_leader([](const Leadership& lead) { lead.wait_for(test::generous); });
    CHECK_THROWS_AS(node.start_while_leader([](const Leadership&) {}), std::logic_error);
    CHECK_THROWS_AS(node.run_while_leader([](const Leadership&) {}), std::logic_error);
}

TEST_CASE("library: a port or a directory in use is an error that says so") {
    const LibraryCluster cluster(2);
    Node node(cluster.options(1));
    node.start();
    Options same_directory = cluster.options(2);
    same_directory.data_dir = cluster.options(1).data_dir;
    Node second(same_directory);
    CHECK_THROWS_AS(second.start(), NodeError);
    Options same_port = cluster.options(2);
    same_port.listen = cluster.peers().substr(2, cluster.peers().find(',') - 2);
    Node third(same_port);
    CHECK_THROWS_AS(third.start(), NodeError);
}

TEST_CASE("library: a task may stop its node, and a stopped node stays stopped") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    int runs = 0;
    node.run_while_leader([&](const Leadership& lead) {
        ++runs;
        node.stop();
        CHECK_FALSE(lead.wait_for(test::generous));
    });
    CHECK(runs == 1);
    node.stop();
    node.start();
    CHECK(node.status().role == "stopped");
    node.run_while_leader([&](const Leadership&) { ++runs; });
    CHECK(runs == 1);
    Node never(cluster.options(1));
    never.stop();
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("library: a child leads nothing, by whichever call it was made") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    std::vector<int> statuses;
    const auto note_child = [&](const Leadership& lead, pid_t child) {
        if (child == 0)
            ::syscall(SYS_exit_group, lead.valid() || lead.time_left().count() != 0 ? 1 : 0);
        int status = -1;
        ::waitpid(child, &status, 0);
        statuses.push_back(status);
    };
    node.run_while_leader([&](const Leadership& lead) {
        CHECK(lead.valid());
        note_child(lead, ::fork());
        note_child(lead, ::_Fork());
        note_child(lead, static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
        CHECK(lead.valid());
        node.stop();
    });
    CHECK(statuses == std::vector<int>{0, 0, 0});
}
#endif

TEST_SUITE_END();

}  // namespace bullring::library_test
