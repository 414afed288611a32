// The library at its edges: waits without an end, empty functions, functions that throw, and what
// is asked from inside the task.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <bullring/bullring.hpp>
#include <doctest/doctest.h>

#include "tests/support/library_cluster.hpp"

namespace bullring::library_edges_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using std::chrono::nanoseconds;
using namespace test;

constexpr nanoseconds for_ever = nanoseconds::max();

/// All of a change but its time.
using Told = std::tuple<Change::Kind, std::uint64_t, std::uint64_t, std::string>;

std::vector<Told> told(const std::vector<Change>& changes) {
    std::vector<Told> all;
    for (const Change& change : changes)
        all.emplace_back(change.kind, change.epoch, change.leader ? change.leader->id : 0,
                         change.reason);
    return all;
}

bool has(const std::vector<Change>& changes, Change::Kind kind) {
    return std::any_of(changes.begin(), changes.end(),
                       [kind](const Change& change) { return change.kind == kind; });
}

void throws(const Leadership& /*lead*/) { throw std::runtime_error("no queue"); }

/// Three nodes; the third one leads first, with the test's task, and the others' do nothing.
struct Three {
    static void start(Node& node) {
        node.start_while_leader([](const Leadership& lead) { lead.wait_for(for_ever); });
    }

    LibraryCluster cluster{3, LibraryCluster::Leads::the_highest};
    std::unique_ptr<Node> first = cluster.node(1);  // started when the third one leads
    std::unique_ptr<Node> second = cluster.node(2);
    std::unique_ptr<Node> third = cluster.node(3);
};

}  // namespace

TEST_CASE("library: a wait for ever ends with what it waits for, and a negative one at once") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    const Observer observer(cluster.peers());
    CHECK_FALSE(observer.wait_for_leader(for_ever * -1));
    std::thread other;
    node.run_while_leader([&](const Leadership& lead) {
        CHECK(lead.wait_for(nanoseconds(-1)));
        CHECK(lead.wait_for(-for_ever));
        CHECK(observer.wait_for_leader(for_ever));
        other = std::thread([&] { node.stop(); });
        CHECK_FALSE(lead.wait_for(for_ever));
        CHECK(lead.stop_token().stop_requested());
    });
    other.join();
}

TEST_CASE("library: a resign may be waited for for ever, or only be asked for") {
    Notes<std::uint64_t> epochs;
    const Three nodes;
    Three::start(*nodes.second);
    nodes.third->start_while_leader([&](const Leadership& lead) {
        epochs.add(lead.epoch());
        lead.wait_for(for_ever);
    });
    REQUIRE(epochs.wait_for_count(1));
    Three::start(*nodes.first);
    CHECK(test::resign_when_possible(*nodes.third, for_ever).done);
    const auto leader = nodes.third->leader();
    REQUIRE(leader);
    CHECK(leader->id != 3);
    Node& leads = leader->id == 1 ? *nodes.first : *nodes.second;
    Notes<Change> changes;
    const Subscription subscription =
        leads.subscribe([&](const Change& change) { changes.add(change); });
    const Resignation asked = test::resign_when_possible(leads, nanoseconds(0));
    CHECK_FALSE(asked.done);
    CHECK_FALSE(asked.refused);
    REQUIRE(changes.wait_for([](const auto& all) { return has(all, Change::Kind::deposed); }));
    CHECK(leads.resign(0, nanoseconds(-1)).refused);
}

TEST_CASE("library: a resign in the task is refused by the same words as outside") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    std::vector<Resignation> inside;
    std::vector<Resignation> outside;
    node.run_while_leader([&](const Leadership& lead) {
        for (const std::uint64_t to : {0U, 1U, 9U}) {
            inside.push_back(node.resign(to));
            std::thread([&] { outside.push_back(node.resign(to)); }).join();
            outside.push_back(node.resign(to, nanoseconds(0)));
        }
        CHECK(lead.valid());
        node.stop();
    });
    REQUIRE(inside.size() == 3);
    for (std::size_t i = 0; i < inside.size(); ++i) {
        CHECK(inside[i].refused);
        CHECK_FALSE(inside[i].done);
        CHECK(inside[i].why == outside[2 * i].why);
        CHECK(inside[i].why == outside[2 * i + 1].why);
    }
    CHECK(node.resign().refused);
}

TEST_CASE("library: a resign in the task that can be followed is asked for") {
    const Three nodes;
    Three::start(*nodes.second);
    Resignation asked{true, true, ""};
    bool was_asked_to_stop = false;
    nodes.third->run_while_leader([&](const Leadership& lead) {
        asked = test::resign_when_possible(*nodes.third, test::generous);
        was_asked_to_stop = !lead.wait_for(for_ever);
        nodes.third->stop();
    });
    CHECK_FALSE(asked.refused);
    CHECK_FALSE(asked.done);
    CHECK(was_asked_to_stop);
}

TEST_CASE("library: an empty function is refused at the call") {
    const LibraryCluster cluster(1);
    Node node(cluster.options(1));
    CHECK_THROWS_AS(node.run_while_leader(nullptr), std::invalid_argument);
    CHECK_THROWS_AS(node.start_while_leader(nullptr), std::invalid_argument);
    CHECK_THROWS_AS(node.subscribe(nullptr), std::invalid_argument);
    Observer observer(cluster.peers());
    CHECK_THROWS_AS(observer.subscribe(nullptr), std::invalid_argument);
    // Nothing of it has happened: no task is being run.
    CHECK(node.status().role == "stopped");
    node.run_while_leader([&](const Leadership&) { node.stop(); });
}

TEST_CASE("library: callbacks, on_error and a log handler that throw end nothing") {
    Notes<std::string> lines;
    set_log_handler(LogLevel::info, [&](LogLevel, std::string_view line) {
        lines.add(std::string(line));
        throw 7;
    });
    {
        const LibraryCluster cluster(1);
        Node node(cluster.options(1));
        Notes<Change> changes;
        const Subscription subscription = node.subscribe([&](const Change& change) {
            changes.add(change);
            if (change.kind == Change::Kind::elected) throw 7;
            throw std::runtime_error("no screen");
        });
        Notes<int> errors;
        node.start_while_leader(&throws, [&](const std::exception_ptr&) {
            errors.add(1);
            throw std::runtime_error("no mail");
        });
        REQUIRE(errors.wait_for_count(1));
        REQUIRE(changes.wait_for([](const auto& all) { return has(all, Change::Kind::deposed); }));
        node.stop();
    }
    CHECK(lines.wait_for_count(3));
    set_log_handler(LogLevel::info, {});
}

TEST_CASE("library: each change carries whom the node follows at that moment") {
    using Kind = Change::Kind;
    const LibraryCluster cluster(1);
    Notes<Change> changes;
    Subscription subscription;
    {
        Node node(cluster.options(1));
        subscription = node.subscribe([&](const Change& change) { changes.add(change); });
        CHECK_THROWS_WITH(node.run_while_leader(&throws), "no queue");
        REQUIRE(changes.wait_for([](const auto& all) { return has(all, Kind::deposed); }));
    }
    CHECK(told(changes.all()) == std::vector<Told>{{Kind::leader, 0, 0, ""},
                                                   {Kind::elected, 1, 1, ""},
                                                   {Kind::leader, 1, 1, ""},
                                                   {Kind::deposed, 1, 0, "task_failed"},
                                                   {Kind::leader, 1, 0, ""}});
}

TEST_CASE("library: a stopped node says once that it follows nobody, and no epoch falls") {
    using Kind = Change::Kind;
    const LibraryCluster cluster(1);
    Notes<Change> changes;
    Notes<Change> late;
    Subscription subscription;
    Subscription other;
    {
        Node node(cluster.options(1));
        subscription = node.subscribe([&](const Change& change) { changes.add(change); });
        node.start();
        REQUIRE(changes.wait_for([](const auto& all) { return all.size() == 3; }));
        node.stop();
        other = node.subscribe([&](const Change& change) { late.add(change); });
    }
    std::vector<Told> all = told(changes.all());
    REQUIRE(all.size() == 5);
    // Which of the two comes first is the election's matter.
    std::sort(all.begin() + 3, all.end());
    CHECK(all == std::vector<Told>{{Kind::leader, 0, 0, ""},
                                   {Kind::elected, 1, 1, ""},
                                   {Kind::leader, 1, 1, ""},
                                   {Kind::leader, 1, 0, ""},
                                   {Kind::deposed, 1, 0, "stopped"}});
    CHECK(told(late.all()) == std::vector<Told>{{Kind::leader, 1, 0, ""}});
}

TEST_CASE("library: a problem names each setting once, and without dashes") {
    const auto problems = Options{}.problems();
    CHECK(problems.size() == 2);
    Options options;
    options.stop_margin = nanoseconds(-1);
    for (const std::string& problem : options.problems()) {
        CHECK(problem.find("--") == std::string::npos);
        CHECK(problem.find(':') != std::string::npos);
    }
    Options margin = LibraryCluster(1).options(1);
    margin.stop_margin = std::chrono::hours(1);
    REQUIRE(margin.problems().size() == 1);
    CHECK(margin.problems()[0].find("stop-margin") == margin.problems()[0].rfind("stop-margin"));
}

TEST_CASE("library: what is no enumerator is told by its number, with the words that are") {
    Options options = LibraryCluster(1).options(1);
    options.profile = static_cast<Profile>(9);
    options.fast_release = static_cast<FastRelease>(7);
    const auto problems = options.problems();
    REQUIRE(problems.size() == 2);
    CHECK(problems[0] == "profile: \"9\" is not one of realtime, fast, lan, cloud, wan");
    CHECK(problems[1] == "fast-release: \"7\" is not one of off, fin, notice");
}

TEST_SUITE_END();

}  // namespace bullring::library_edges_test
