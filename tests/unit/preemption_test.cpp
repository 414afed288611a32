// Preemption (§9): a leader hands over to a higher node that has been fit for T_stable, once.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::preemption_test {
namespace {

using namespace test;

constexpr Epoch epoch{5001};
constexpr Duration stable = milliseconds(1000);

Config config() {
    Config config = test::config_for(2, {1, 2, 3});
    config.timing.preempt_delay = stable;
    config.timing.hand_over_hold_off = seconds(5);
    config.timing.hand_over_hold_off_max = seconds(12);
    return config;
}

/// Node 2 leads with node 1, and the higher node 3 has just become connected.
NodeFixture challenged(const Config& config) {
    NodeFixture node(config);
    node.lead({1});
    node.connect(3);
    Heartbeat heartbeat = node.heartbeat_from(3);
    heartbeat.quorum_age = seconds(5);
    node.says(3, heartbeat);
    return node;
}

bool hands_over(const Actions& actions) {
    for (const StopTask& stop : only<StopTask>(actions))
        if (stop.reason == DeposedReason::preempted) return true;
    return false;
}

TEST_CASE("preemption: a connected higher node takes over after T_stable and not before") {
    NodeFixture node = challenged(config());
    CHECK_FALSE(hands_over(node.run_granted(stable - milliseconds(100))));
    CHECK(hands_over(node.run_granted(milliseconds(150))));
    CHECK(sent<Resign>(node.step(TaskEnded{epoch})) ==
          std::vector<Resign>{{epoch, {3}}, {epoch, {3}}});
}

TEST_CASE("preemption: with it switched off the leader stays") {
    Config off = config();
    off.preempt = false;
    NodeFixture node = challenged(off);
    CHECK_FALSE(hands_over(node.run_granted(seconds(3))));
}

TEST_CASE("preemption: a lower node never takes over") {
    NodeFixture node(config());
    node.lead({1});
    CHECK_FALSE(hands_over(node.run_granted(seconds(3))));
}

TEST_CASE("preemption: a lower id with a higher priority does take over") {
    Config low = config();
    low.priority = {-1};
    NodeFixture node(low);
    node.recover();
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.eligible = false;
    node.says(1, heartbeat);
    node.connect(1);
    node.answer_grant(1);
    REQUIRE(node.role() == Role::leader);
    heartbeat.eligible = true;
    heartbeat.quorum_age = seconds(5);
    node.says(1, heartbeat);
    CHECK(hands_over(node.run_granted(stable + milliseconds(100))));
}

TEST_CASE("preemption: only who is fit to lead for T_stable takes over") {
    NodeFixture node = challenged(config());
    Heartbeat heartbeat = node.heartbeat_from(3);
    heartbeat.quorum_age = seconds(5);
    SUBCASE("has had a majority for a shorter time") { heartbeat.quorum_age = milliseconds(900); }
    SUBCASE("has been asked to resign and says so with an age of 0") {
        heartbeat.quorum_age = Duration{0};
    }
    SUBCASE("has no majority") { heartbeat.quorum_connected = false; }
    SUBCASE("is not eligible") { heartbeat.eligible = false; }
    SUBCASE("is recovering") { heartbeat.recovering = true; }
    SUBCASE("does not hear this node") { heartbeat.heard = {}; }
    node.says(3, heartbeat);
    CHECK_FALSE(hands_over(node.run_granted(seconds(2))));
}

TEST_CASE("preemption: a higher node that keeps coming and going does not take over") {
    NodeFixture node = challenged(config());
    for (int round = 0; round < 5; ++round) {
        CHECK_FALSE(hands_over(node.run_granted(stable - milliseconds(200))));
        node.lose(3);
        node.connect(3);
    }
}

TEST_CASE("preemption: of several higher nodes the highest is named") {
    Config five = test::config_for(2, {1, 2, 3, 4, 5});
    five.timing.preempt_delay = stable;
    NodeFixture node(five);
    node.recover();
    Heartbeat unfit = node.heartbeat_from(3);
    unfit.eligible = false;
    for (const std::uint64_t peer : {3U, 4U, 5U}) node.says(peer, unfit);
    for (const std::uint64_t peer : {1U, 3U, 4U, 5U}) node.connect(peer);
    for (const std::uint64_t peer : {1U, 3U}) node.answer_grant(peer);
    for (const std::uint64_t peer : {1U, 3U}) node.answer_grant(peer);
    REQUIRE(node.role() == Role::leader);
    for (const std::uint64_t peer : {3U, 4U, 5U}) {
        Heartbeat heartbeat = node.heartbeat_from(peer);
        heartbeat.quorum_age = seconds(5);
        node.says(peer, heartbeat);
    }
    CHECK(hands_over(node.run_granted(stable + milliseconds(100))));
    CHECK(sent<Resign>(node.step(TaskEnded{epoch})).at(0).successor == NodeId{5});
}

/// Hands over to node 3, which does not take it; node 2 is elected again.
void fail_to_hand_over(NodeFixture& node) {
    const Epoch given_up = node.view().epoch;
    node.step(TaskEnded{given_up});
    REQUIRE(node.role() == Role::follower);
    // Node 3 falls silent for a while, so that node 2 may stand.
    node.lose(3);
    node.run(node.timing().reservation() + node.timing().coordinator_wait + milliseconds(100));
    REQUIRE(node.role() == Role::candidate);
    node.answer_grant(1);
    node.answer_grant(1);
    REQUIRE(node.role() == Role::leader);
    node.connect(3);
}

TEST_CASE("preemption: a node that did not take it is left alone for a hold-off that doubles") {
    NodeFixture node = challenged(config());
    REQUIRE(hands_over(node.run_granted(stable + milliseconds(100))));
    node.disk_answers(true);
    for (const Duration hold_off : {seconds(5), seconds(10), seconds(12)}) {
        fail_to_hand_over(node);
        CAPTURE(hold_off.ns);
        CHECK_FALSE(hands_over(node.run_granted(hold_off - milliseconds(100))));
        CHECK(hands_over(node.run_granted(milliseconds(200))));
    }
}

/// Node 3 takes what it was handed, leads for so long, and is gone; node 2 is elected again.
void lead_and_vanish(NodeFixture& node, Duration led) {
    const std::uint64_t next = node.view().epoch.value + 1;
    node.step(TaskEnded{node.view().epoch});
    const Instant end = node.now() + led;
    do {
        node.hear(3, node.renewal(next));
        REQUIRE(node.view().leader == NodeId{3});
        node.pass(std::min(node.timing().heartbeat, elapsed(node.now(), end)));
        node.hear_heartbeat(1);
    } while (!due(node.now(), end));
    node.hear(3, node.renewal(next));
    node.lose(3);
    node.run(node.timing().heartbeat);
    REQUIRE(node.role() == Role::candidate);
    node.answer_grant(1);
    node.answer_grant(1);
    REQUIRE(node.role() == Role::leader);
    node.connect(3);
}

TEST_CASE("preemption: once it has led for T_stable, the hold-off is forgotten") {
    NodeFixture node = challenged(config());
    node.disk_answers(true);
    REQUIRE(hands_over(node.run_granted(stable + milliseconds(100))));
    fail_to_hand_over(node);
    REQUIRE(hands_over(node.run_granted(seconds(5) + milliseconds(100))));
    lead_and_vanish(node, stable);
    REQUIRE(hands_over(node.run_granted(stable + milliseconds(150))));
    fail_to_hand_over(node);
    CHECK_FALSE(hands_over(node.run_granted(seconds(5) - milliseconds(100))));
    CHECK(hands_over(node.run_granted(milliseconds(200))));
}

TEST_CASE(
    "preemption: a node that loses the leadership sooner is left alone, each time for longer") {
    NodeFixture node = challenged(config());
    node.disk_answers(true);
    REQUIRE(hands_over(node.run_granted(stable + milliseconds(100))));
    for (const Duration hold_off : {seconds(5), seconds(10), seconds(12)}) {
        lead_and_vanish(node, stable - milliseconds(100));
        CAPTURE(hold_off.ns);
        CHECK_FALSE(hands_over(node.run_granted(hold_off - milliseconds(100))));
        CHECK(hands_over(node.run_granted(milliseconds(200))));
    }
}

TEST_CASE("preemption: who leads for nobody hands over again as soon as that one has led (R5.18)") {
    NodeFixture node = challenged(config());
    node.disk_answers(true);
    node.step(WorkChanged{Work::none});
    Heartbeat asked = node.heartbeat_from(3);
    asked.work = Work::asked;
    node.says(3, asked);
    REQUIRE(hands_over(node.run_granted(node.timing().heartbeat * 2)));
    for (int times = 0; times < 3; ++times) {
        lead_and_vanish(node, milliseconds(100));
        CHECK(hands_over(node.run_granted(node.timing().heartbeat * 2)));
    }
    // One that does not take it is left alone all the same.
    fail_to_hand_over(node);
    CHECK_FALSE(hands_over(node.run_granted(seconds(4))));
}

}  // namespace
}  // namespace bullring::protocol::preemption_test
