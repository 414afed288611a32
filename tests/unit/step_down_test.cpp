// The end of a leadership (R5), strictly in its order.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::step_down_test {
namespace {

using namespace test;

constexpr Epoch epoch{5001};

NodeFixture leader() {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    return node;
}
/// A leader that has been asked to hand over to node 1 and whose task has not ended yet.
NodeFixture stepping_down() {
    NodeFixture node = leader();
    node.step(ResignRequested{{1}, {Asker::observer, 77}});
    REQUIRE(node.role() == Role::stepping_down);
    return node;
}

// R5.1
TEST_CASE("step down: first the leadership is unpublished, then the task is told to end") {
    NodeFixture node = leader();
    CHECK(without_heartbeats(node.step(ResignRequested{{1}, {Asker::observer, 77}})) ==
          Actions{Publish{{}, long_ago}, RoleChanged{Role::stepping_down, epoch},
                  StopTask{epoch, DeposedReason::resigned},
                  LeaderChanged{nobody, epoch, "", false, node.now()}});
}

// R5.2, R5.3
TEST_CASE("step down: only when the task has ended is RESIGN sent and the epoch given up") {
    NodeFixture node = stepping_down();
    CHECK(sent<Resign>(node.run_granted(milliseconds(300))).empty());
    CHECK(node.view().promised_to == NodeId{3});
    CHECK(without_heartbeats(node.step(TaskEnded{epoch})) ==
          Actions{RoleChanged{Role::follower, epoch}, Send{node.dialled(1), Resign{epoch, {1}}},
                  Send{node.dialled(2), Resign{epoch, {1}}},
                  Deposed{epoch, DeposedReason::resigned, node.now()}});
    CHECK(node.view().promised_to == nobody);
}

// R5.1
TEST_CASE("step down: on a resignation the lease is renewed until the task has ended") {
    NodeFixture node = stepping_down();
    const Actions actions = node.run_granted(node.timing().lease * 2);
    CHECK(sent<Coordinator>(actions).size() >= 20);
    CHECK(only<Publish>(actions).empty());
    CHECK(node.view().promised_to == NodeId{3});
}

// R5.2
TEST_CASE("step down: while its task ends the node refuses rivals and does not stand") {
    NodeFixture node = stepping_down();
    const Actions actions = node.hear(1, node.candidacy(5002));
    CHECK(sent_one<Nack>(actions).reason == NackReason::busy);
    CHECK(only<ElectionStarted>(node.run_granted(seconds(1))).empty());
}

// R5.1
TEST_CASE("step down: a task that does not end in time ends the renewals and nothing else") {
    NodeFixture node = stepping_down();
    node.run_granted(node.timing().step_down_timeout);
    const Actions actions = node.run_granted(milliseconds(400));
    CHECK(sent<Coordinator>(actions).empty());
    CHECK(sent<Resign>(actions).empty());
    CHECK(only<CloseSession>(actions).empty());
    CHECK(node.role() == Role::stepping_down);
    CHECK(sent<Resign>(node.step(TaskEnded{epoch})).size() == 2);
}

TEST_CASE("step down: once the lease is over, late grants do not start the renewals again") {
    NodeFixture node = stepping_down();
    Grant late = node.grant_from(1);
    node.run(node.timing().lease);
    CHECK(sent<Coordinator>(node.run(milliseconds(100))).empty());
    late.stamp = node.now();
    Actions actions = node.hear(1, late);
    test::append(actions, node.run(milliseconds(200)));
    CHECK(sent<Coordinator>(actions).empty());
    CHECK(node.role() == Role::stepping_down);
}

// R5.1
TEST_CASE("step down: after a lapse and after a stall nothing is renewed any more") {
    NodeFixture node = leader();
    DeposedReason reason = DeposedReason::stalled;
    NodeId successor = {2};  // a stalled node hands over when its task has ended at last
    SUBCASE("stall") { node.step(Stalled{}); }
    SUBCASE("lapse") {
        reason = DeposedReason::lease_expired;
        successor = nobody;
        node.run(node.timing().lease);
    }
    REQUIRE(node.role() == Role::stepping_down);
    CHECK(sent<Coordinator>(node.run_granted(milliseconds(300))).empty());
    const Actions actions = node.step(TaskEnded{epoch});
    CHECK(sent<Resign>(actions) == std::vector<Resign>{{epoch, successor}, {epoch, successor}});
    CHECK(only_one<Deposed>(actions).reason == reason);
}

TEST_CASE("step down: a leadership is never held longer than the lease that was granted") {
    NodeFixture node = leader();
    const Instant end = node.now() + node.timing().lease;
    node.run(node.timing().lease * 2);
    const Actions actions = node.step(TaskEnded{epoch});
    CHECK(only_one<Deposed>(actions).held_until == end);
}

// R5.4
TEST_CASE("step down: while it lasts no session is closed, though peers come and go") {
    NodeFixture node = stepping_down();
    node.run_granted(milliseconds(100));
    const SessionId tied = node.dialled(1);
    Actions actions = node.dial(1);
    test::append(actions, node.step(SessionEnded{tied, SessionEnd::overflow}));
    CHECK(only<CloseSession>(actions).empty());
    CHECK(only<CloseSession>(node.step(TaskEnded{epoch})) == std::vector<CloseSession>{{tied}});
}

// R5.4
TEST_CASE("step down: RESIGN goes out before a lingering session is closed") {
    NodeFixture node = leader();
    const SessionId tied = node.dialled(1);
    node.dial(1);
    node.step(ResignRequested{{1}, {}});
    const Actions actions = without_heartbeats(node.step(TaskEnded{epoch}));
    std::size_t resigned = actions.size();
    std::size_t closed = actions.size();
    for (std::size_t i = 0; i < actions.size(); ++i) {
        if (actions[i] == Action{Send{node.dialled(1), Resign{epoch, {1}}}}) resigned = i;
        if (actions[i] == Action{CloseSession{tied}}) closed = i;
    }
    REQUIRE(closed < actions.size());
    CHECK(resigned < closed);
}

TEST_CASE("step down: the end of another leadership's task changes nothing") {
    NodeFixture node = stepping_down();
    node.step(TaskEnded{{5000}});
    CHECK(node.role() == Role::stepping_down);
}

// ---- What begins one.

// R5.5
TEST_CASE("step down: a task that ends by itself gives the leadership to the best successor") {
    for (const bool failed : {false, true}) {
        NodeFixture node = leader();
        const Actions actions = without_heartbeats(node.step(TaskEnded{epoch, true, failed}));
        CHECK(sent<Resign>(actions) == std::vector<Resign>{{epoch, {2}}, {epoch, {2}}});
        CHECK(only<StopTask>(actions).empty());
        CHECK(only_one<Deposed>(actions).reason ==
              (failed ? DeposedReason::task_failed : DeposedReason::task_ended));
    }
}

// R5.11
TEST_CASE("step down: a task that its guard has ended for the lease counts as a lapse") {
    NodeFixture node = leader();
    const Actions actions = without_heartbeats(node.step(TaskEnded{epoch, false, false}));
    CHECK(only_one<Deposed>(actions).reason == DeposedReason::lease_expired);
    CHECK(sent<Resign>(actions).size() == 2);
}

// R5.6
TEST_CASE("step down: who has nobody to do the work leads on, but does not stand") {
    NodeFixture node = leader();
    CHECK(only<StopTask>(node.step(Standing{false})).empty());
    CHECK(node.role() == Role::leader);
    node.step(TaskEnded{epoch, true, false});
    CHECK(only<ElectionStarted>(node.run(seconds(2))).empty());
    CHECK(node.view().why == "does not stand: it has nobody to do the work");
    Actions again = node.step(Standing{true});
    test::append(again, node.run(seconds(1)));
    CHECK_FALSE(only<ElectionStarted>(again).empty());
}

TEST_CASE(
    "step down: who became unhealthy hands over and stays out until T_stable after it is well") {
    NodeFixture node = leader();
    CHECK(only<StopTask>(node.step(HealthChanged{false})) ==
          std::vector<StopTask>{{epoch, DeposedReason::unhealthy}});
    CHECK(sent<Resign>(node.step(TaskEnded{epoch})) ==
          std::vector<Resign>{{epoch, {2}}, {epoch, {2}}});
    CHECK(only<ElectionStarted>(node.run(seconds(2))).empty());
    node.step(HealthChanged{true});
    CHECK(only<ElectionStarted>(node.run(node.timing().preempt_delay - milliseconds(1))).empty());
    CHECK_FALSE(only<ElectionStarted>(node.run(milliseconds(1))).empty());
}

/// Node 3 was unhealthy and is well again, while its peers say this of themselves.
bool stands_when_well_beside(bool eligible, bool quorum_connected, bool leads) {
    NodeFixture node = leader();
    node.step(HealthChanged{false});
    node.step(TaskEnded{epoch});
    for (const std::uint64_t peer : {1U, 2U}) {
        Heartbeat heartbeat = node.heartbeat_from(peer);
        heartbeat.eligible = eligible;
        heartbeat.quorum_connected = quorum_connected;
        if (leads) {
            heartbeat.leader = {2};
            heartbeat.leader_epoch = {epoch.value + 1};
            heartbeat.leader_announced = true;
            heartbeat.leader_remaining = seconds(100);
        }
        node.says(peer, heartbeat);
    }
    node.run(seconds(2));
    node.step(HealthChanged{true});
    return !only<ElectionStarted>(node.run(node.timing().heartbeat * 4)).empty();
}

// R5.7
TEST_CASE("step down: the probation after bad health is over where nobody else can lead") {
    CHECK(stands_when_well_beside(false, true, false));
    CHECK(stands_when_well_beside(true, false, false));
    CHECK_FALSE(stands_when_well_beside(true, true, false));
    CHECK_FALSE(stands_when_well_beside(false, true, true));
}

TEST_CASE("step down: a stop without a possible successor goes on with none") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1});
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.eligible = false;
    node.hear(1, heartbeat);
    CHECK(only<StopTask>(node.step(StopRequested{})) ==
          std::vector<StopTask>{{epoch, DeposedReason::stopped}});
    CHECK(sent<Resign>(node.step(TaskEnded{epoch})) == std::vector<Resign>{{epoch, nobody}});
}

TEST_CASE("step down: a stopping leader says Stopped last, after RESIGN") {
    NodeFixture node = leader();
    node.disk_answers(true);
    CHECK(only<Stopped>(node.step(StopRequested{})).empty());
    CHECK(only<Stopped>(node.run_granted(milliseconds(100))).empty());
    const Actions actions = node.step(TaskEnded{epoch});
    CHECK(sent<Resign>(actions).size() == 2);
    REQUIRE_FALSE(actions.empty());
    CHECK(actions.back() == Action{Stopped{}});
}

TEST_CASE("step down: a candidate that is stopped gives its candidacy up") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.stand({1, 2});
    node.disk_answers(true);
    const Actions actions = node.step(StopRequested{});
    CHECK(sent<Resign>(actions) == std::vector<Resign>{{epoch, nobody}, {epoch, nobody}});
    CHECK(actions.back() == Action{Stopped{}});
}

TEST_CASE("step down: a follower stops at once, once, and never stands again") {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    node.disk_answers(true);
    CHECK(only<Stopped>(node.step(StopRequested{})).size() == 1);
    CHECK(only<Stopped>(node.step(StopRequested{})).empty());
    node.connect(2);
    CHECK(only<ElectionStarted>(node.run(seconds(2))).empty());
}

TEST_CASE("step down: the second reason does not start it again") {
    NodeFixture node = stepping_down();
    node.disk_answers(true);
    Actions actions = node.step(Stalled{});
    test::append(actions, node.step(ResignRequested{{2}, {}}));
    test::append(actions, node.step(HealthChanged{false}));
    test::append(actions, node.step(StopRequested{}));
    CHECK(only<StopTask>(actions).empty());
    const Actions ended = node.step(TaskEnded{epoch});
    CHECK(only_one<Deposed>(ended).reason == DeposedReason::resigned);
    CHECK(only<Stopped>(ended).size() == 1);
}

}  // namespace
}  // namespace bullring::protocol::step_down_test
