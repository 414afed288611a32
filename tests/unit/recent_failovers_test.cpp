// Tests a node's memory of its last changes of leader: its content, its size and its cost.
#include "src/node/report/recent_failovers.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/failing_allocation.hpp"
#include "tests/support/watched_failovers.hpp"

namespace bullring::recent_failovers_test {
namespace {

using namespace protocol;

constexpr std::int64_t ms = 1'000'000;

template <class Kind>
std::size_t count(const Failover& failover) {
    return static_cast<std::size_t>(
        std::count_if(failover.items.begin(), failover.items.end(), [](const TraceItem& item) {
            const auto* traced = std::get_if<TracedMessage>(&item);
            return traced != nullptr && std::holds_alternative<Kind>(traced->message);
        }));
}

std::size_t count(const Failover& failover, std::string_view kind) {
    return static_cast<std::size_t>(
        std::count_if(failover.items.begin(), failover.items.end(), [&](const TraceItem& item) {
            const auto* mark = std::get_if<TraceMark>(&item);
            return mark != nullptr && mark->kind == kind;
        }));
}

/// A follower with one peer, which is told what happens by hand.
struct Follower {
    Follower() {
        config.self = {1};
        config.members = Membership(std::vector<NodeId>{{1}, {2}, {3}});
        config.timing.heartbeat = milliseconds(50);
        config.timing.lease = seconds(1);
        Hello hello;
        hello.id = {2};
        hello.session = {7};
        step(HelloReceived{{7}, hello, {}});
    }

    void step(const Event& event, const std::vector<protocol::Action>& actions = {},
              std::int64_t after = 0) {
        now += after;
        failovers.add({now, now}, event, actions, log.add({now, now}, event, actions));
    }
    void leader(std::uint64_t id, std::uint64_t epoch) {
        step(Wake{}, {LeaderChanged{{id}, {epoch}, ""}}, ms);
    }
    void hears_nothing_new() { step(Receive{{7}, Heartbeat{}}, {}, 60 * ms); }

    Config config;
    std::int64_t now = 1'000 * ms;
    LeaderLog log{{now, now}};
    RecentFailovers failovers{config, {0xAB}};
};

}  // namespace

TEST_CASE("recent failovers: each survivor keeps what it saw of the leader's death") {
    for (const std::string algorithm : {"bully", "ring"}) {
        CAPTURE(algorithm);
        test::WatchedFailovers cluster(algorithm, 3,
                                       "at +0s expect leader 3 within 5s\nat +2s crash 3\n"
                                       "at +0s expect leader 2 within 1s\nat +2s wait 0s\n");
        REQUIRE(!cluster.outcome.violation);
        for (const std::uint64_t node : {1U, 2U}) {
            CAPTURE(node);
            const Failovers& found = cluster.of(node);
            REQUIRE(found.size() == 2);
            CHECK(found[0]->number == 1);
            CHECK(!found[0]->from);
            CHECK(found[0]->to == NodeId{3});
            const Failover& last = *found[1];
            CHECK(last.number == 2);
            CHECK(last.node == NodeId{node});
            CHECK(last.from == NodeId{3});
            CHECK(last.to == NodeId{2});
            CHECK(last.epoch > found[0]->epoch);
            CHECK(found[0]->before == LeaderEnd::first);
            CHECK(last.before == LeaderEnd::died);
            CHECK(last.left_out == 0);
            CHECK(count(last, "peer_down") == 1);
            CHECK(count(last, "elected") == (node == 2 ? 1 : 0));
            CHECK(count<Heartbeat>(last) == 0);
            CHECK(count<Coordinator>(last) + count<CoordinatorToken>(last) > 0);
            const std::string lines = failover_lines(last);
            CHECK(std::count(lines.begin(), lines.end(), '\n') ==
                  static_cast<std::ptrdiff_t>(last.items.size()));
            CHECK(lines.find("\"kind\":\"peer_down\",\"peer\":3") != std::string::npos);
        }
    }
}

TEST_CASE("recent failovers: a handover has no time without a leader of which nobody tells") {
    test::WatchedFailovers cluster("bully", 3,
                                   "at +0s expect leader 3 within 5s\nat +2s resign 3\n"
                                   "at +1us expect leader 2 within 1s\nat +2s wait 0s\n");
    REQUIRE(!cluster.outcome.violation);
    for (const std::uint64_t node : {1U, 2U, 3U}) {
        CAPTURE(node);
        const Failovers& found = cluster.of(node);
        REQUIRE(found.size() >= 2);
        CHECK(found[1]->from == NodeId{3});
        CHECK(found[1]->to == NodeId{2});
        CHECK(count<Resign>(*found[1]) > 0);
        CHECK(found[1]->before == LeaderEnd::resigned);
    }
}

TEST_CASE("recent failovers: while a leader stays, nothing is kept and nothing allocated") {
    Follower node;
    node.leader(2, 5);
    node.hears_nothing_new();
    REQUIRE(node.failovers.read().size() == 1);
    Coordinator renewal;
    renewal.epoch = {5};
    renewal.renew = true;
    Grant grant;
    grant.epoch = {5};
    const std::vector<protocol::Action> answer{Send{{7}, grant}, Publish{{}, {}, {}}};
    const Event heartbeat = Receive{{7}, Heartbeat{}};
    const Event request = Receive{{7}, renewal};
    {
        const test::FailingAllocation any(0);
        for (int i = 0; i < 1000; ++i) {
            node.step(heartbeat, {}, 10 * ms);
            node.step(request, answer, 10 * ms);
        }
        CHECK(!any.happened());
    }
    CHECK(node.failovers.read().size() == 1);
}

TEST_CASE("recent failovers: an unrest that leaves the leader in place is forgotten") {
    Follower node;
    node.leader(2, 5);
    node.hears_nothing_new();
    node.leader(0, 5);
    node.step(Receive{{7}, Election{1}}, {}, ms);
    node.leader(2, 5);
    for (int i = 0; i < 100; ++i) node.hears_nothing_new();
    REQUIRE(node.failovers.read().size() == 1);
    node.leader(3, 6);
    node.hears_nothing_new();
    REQUIRE(node.failovers.read().size() == 2);
    CHECK(count<Election>(*node.failovers.read().back()) == 0);
}

TEST_CASE("recent failovers: the same leader in a new epoch is a change") {
    Follower node;
    node.leader(2, 5);
    node.hears_nothing_new();
    node.leader(2, 6);
    node.hears_nothing_new();
    REQUIRE(node.failovers.read().size() == 2);
    CHECK(node.failovers.read().back()->from == NodeId{2});
    CHECK(node.failovers.read().back()->epoch == Epoch{6});
}

TEST_CASE("recent failovers: leaders in quick succession have a story each") {
    Follower node;
    node.leader(2, 5);
    node.hears_nothing_new();
    node.leader(0, 5);
    node.leader(3, 6);
    node.leader(0, 6);
    node.leader(2, 7);
    node.hears_nothing_new();
    const Failovers& found = node.failovers.read();
    REQUIRE(found.size() == 3);
    CHECK(found[1]->from == NodeId{2});
    CHECK(found[1]->to == NodeId{3});
    CHECK(found[2]->from == NodeId{3});
    CHECK(found[2]->to == NodeId{2});
}

TEST_CASE("recent failovers: the last eight are kept") {
    Follower node;
    for (std::uint64_t epoch = 1; epoch <= 20; ++epoch) {
        node.leader(2 + epoch % 2, epoch);
        node.hears_nothing_new();
    }
    const Failovers& found = node.failovers.read();
    REQUIRE(found.size() == RecentFailovers::failovers_max);
    CHECK(found.front()->number == 13);
    CHECK(found.back()->number == 20);
}

TEST_CASE("recent failovers: of a long election its beginning and its end are kept") {
    Follower node;
    node.leader(2, 5);
    node.hears_nothing_new();
    node.leader(0, 5);
    CoordinatorToken token;
    token.walk.path.resize(members_max);
    token.grants.resize(members_max);
    for (std::uint64_t attempt = 0; attempt < 10'000; ++attempt) {
        node.step(Receive{{7}, Election{attempt}}, {}, 100 * ms);
        if (attempt % 100 == 0) node.step(Receive{{7}, token}, {}, ms);
    }
    node.leader(3, 6);
    node.hears_nothing_new();
    REQUIRE(node.failovers.read().size() == 2);
    const Failover& last = *node.failovers.read().back();
    CHECK(last.left_out > 9'000);
    CHECK(last.items.size() * sizeof(TraceItem) <= RecentFailovers::bytes_max);
    CHECK(last.items.size() > 20);
    CHECK(std::get<TraceMark>(last.items.front()).kind == "leader");
    CHECK(std::get<TraceMark>(last.items.back()).kind == "leader");
    const std::string lines = failover_lines(last);
    const std::size_t gap = lines.find("\"kind\":\"left_out\",\"reason\":\"" +
                                       std::to_string(last.left_out) + " messages and events\"");
    REQUIRE(gap != std::string::npos);
    CHECK(std::count(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(gap), '\n') ==
          static_cast<std::ptrdiff_t>(last.left_out_before));
}

}  // namespace bullring::recent_failovers_test
