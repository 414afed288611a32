// Bully (§7): who asks whom, and what the answers lead to.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::bully_test {
namespace {

using namespace test;

NodeFixture fresh(std::uint64_t self = 1) {
    NodeFixture node(test::config_for(self, {1, 2, 3}));
    node.recover();
    return node;
}
/// Node 1 is polling both higher nodes.
NodeFixture polling() {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    node.accept(2);
    node.dial(2);
    node.accept(3);
    node.dial(3);
    Heartbeat leads = node.heartbeat_from(2);
    leads.leader = {2};
    leads.leader_epoch = {5000};
    leads.leader_remaining = milliseconds(400);
    node.hear(2, leads);  // so that the election waits until both are connected
    node.hear_heartbeat(3);
    node.hear_heartbeat(2);
    REQUIRE(sent<Election>(node.after(node.timing().stagger * 2)).size() == 2);
    return node;
}
/// The number of that poll; they count from 1.
constexpr std::uint64_t attempt = 1;

std::vector<Coordinator> stood(const Actions& actions) { return sent<Coordinator>(actions); }

TEST_CASE("bully: each connected higher node is asked, and nobody else") {
    NodeFixture node = fresh(2);
    node.connect(1);
    REQUIRE(node.role() == Role::candidate);  // nobody higher is connected
    node = fresh(2);
    const Actions actions = node.connect(3);
    CHECK(only<ElectionStarted>(actions) ==
          std::vector<ElectionStarted>{{{5001}, "no leader is known"}});
    Actions asked;
    for (const Send& send : only<Send>(actions))
        if (std::holds_alternative<Election>(send.message)) asked.emplace_back(send);
    CHECK(asked == Actions{Send{node.dialled(3), Election{1}}});
    CHECK(node.role() == Role::follower);
}

TEST_CASE("bully: a higher node that may not stand is not asked") {
    NodeFixture node = fresh();
    SUBCASE("its heartbeat says so") {
        Heartbeat heartbeat = node.heartbeat_from(2);
        heartbeat.eligible = false;
        node.accept(2);
        node.dial(2);
        node.hear(2, heartbeat);
    }
    SUBCASE("its priority is never") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.priority = Priority::never();
        node.accept(hello);
        node.dial(2);
        node.hear_heartbeat(2);
    }
    SUBCASE("its priority is lower") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.priority = {-1};
        node.accept(hello);
        node.dial(2);
        node.hear_heartbeat(2);
    }
    CHECK(node.role() == Role::candidate);
}

TEST_CASE("bully: when all of them decline it stands") {
    NodeFixture node = polling();
    CHECK(stood(node.hear(3, Decline{attempt})).empty());
    CHECK(stood(node.hear(2, Decline{attempt})).size() == 2);
}

TEST_CASE("bully: one that declines twice has declined once") {
    NodeFixture node = polling();
    node.hear(3, Decline{attempt});
    CHECK(stood(node.hear(3, Decline{attempt})).empty());
    CHECK(node.role() == Role::follower);
}

TEST_CASE("bully: without answers it stands after T_ok and not before") {
    NodeFixture node = polling();
    CHECK(stood(node.after(node.timing().poll_wait - Duration{1})).empty());
    CHECK(stood(node.after(Duration{1})).size() == 2);
}

TEST_CASE("bully: after OK it waits for a leader for T_coord and then asks again") {
    NodeFixture node = polling();
    node.hear(3, Ok{attempt});
    node.hear(2, Decline{attempt});
    Actions actions = node.run(node.timing().coordinator_wait - milliseconds(1));
    CHECK(stood(actions).empty());
    CHECK(sent<Election>(actions).empty());
    actions = node.run(milliseconds(1));
    CHECK(sent<Election>(actions) == std::vector<Election>{{attempt + 1}, {attempt + 1}});
}

// B2.2
TEST_CASE("bully: after two fruitless waits on a node its OKs do not count for the time L") {
    NodeFixture node = polling();
    for (std::uint64_t round = 0; round < 2; ++round) {
        node.hear(3, Ok{attempt + round});
        REQUIRE(sent<Election>(node.run(node.timing().coordinator_wait)).size() == 2);
    }
    node.hear(3, Ok{attempt + 2});
    CHECK(stood(node.after(node.timing().poll_wait)).size() == 2);
}

TEST_CASE("bully: the end of the session of the node that said OK ends the wait") {
    NodeFixture node = polling();
    node.hear(3, Ok{attempt});
    const Actions actions = node.lose(3);
    CHECK(sent<Election>(actions) ==
          std::vector<Election>{{attempt + 1}});  // 2 alone is higher now
}

TEST_CASE("bully: answers to an earlier attempt, or of a node that was not asked, do not count") {
    NodeFixture node = polling();
    node.hear(3, Ok{attempt - 1});
    node.hear(2, Ok{attempt + 1});
    node.hear(3, Decline{attempt - 1});
    node.hear(2, LeaderIs{attempt - 1, {2}, {4999}, seconds(1)});
    CHECK(stood(node.after(node.timing().poll_wait)).size() == 2);
}

TEST_CASE("bully: a late OK cannot unseat a candidate or a granted leader") {
    NodeFixture node = polling();
    node.after(node.timing().poll_wait);
    REQUIRE(node.role() == Role::candidate);
    CHECK(without_heartbeats(node.hear(3, Ok{attempt})) == Actions{});
    node.answer_grant(2);
    node.answer_grant(2);
    REQUIRE(node.role() == Role::leader);
    CHECK(without_heartbeats(node.hear(3, Ok{attempt})) == Actions{});
    CHECK(node.role() == Role::leader);
}

TEST_CASE("bully: LEADER ends the poll and the node follows what it was told") {
    NodeFixture node = polling();
    node.hear(2, LeaderIs{attempt, {3}, {5004}, milliseconds(100)});
    CHECK(stood(node.after(node.timing().poll_wait)).empty());
    CHECK(sent<Election>(node.after(milliseconds(69))).empty());
    Actions actions;  // that view ends now, and δ for two higher nodes later it asks again
    for (int ms = 0; ms <= 11; ++ms) test::append(actions, node.after(milliseconds(1)));
    CHECK(sent<Election>(actions).size() == 2);
}

TEST_CASE("bully: LEADER with a holder that is known to be gone counts as DECLINE") {
    NodeFixture node = polling();
    node.hear(3, Resign{{5003}, nobody});
    node.hear(3, Decline{attempt});
    CHECK(stood(node.hear(2, LeaderIs{attempt, {3}, {5003}, milliseconds(400)})).size() == 2);
}

TEST_CASE("bully: a renewal ends the wait, a promise to a candidate does not") {
    NodeFixture node = polling();
    node.hear(3, Ok{attempt});
    SUBCASE("a renewal") {
        node.hear(3, node.renewal(5001));
        CHECK(sent<Election>(node.run(milliseconds(400))).empty());
        CHECK(node.view().leader == NodeId{3});
    }
    SUBCASE("a candidacy") {
        node.hear(3, node.candidacy(5001));
        node.hear(3, Resign{{5001}, nobody});
        CHECK(sent<Election>(node.run(milliseconds(100))).empty());
        CHECK_FALSE(sent<Election>(node.run(milliseconds(100))).empty());
    }
}

// ---- Being asked.

TEST_CASE("bully: who knows the leader first-hand names it") {
    NodeFixture node = fresh(2);
    node.accept(3);
    node.dial(3);
    node.hear(3, node.renewal(5001));
    node.connect(1);
    node.pass(milliseconds(10));
    CHECK(sent<LeaderIs>(node.hear(1, Election{9})) ==
          std::vector<LeaderIs>{
              {9, {3}, {5001}, node.timing().promise(milliseconds(500)) - milliseconds(10)}});
}

TEST_CASE("bully: the leader names itself") {
    NodeFixture node = fresh(3);
    node.lead({1, 2});
    CHECK(sent_one<LeaderIs>(node.hear(1, Election{9})).leader == NodeId{3});
}

TEST_CASE("bully: who knows a leader only second-hand declines") {
    NodeFixture node = fresh(3);
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.leader = {2};
    heartbeat.leader_epoch = {5001};
    heartbeat.leader_remaining = milliseconds(400);
    node.says(1, heartbeat);
    node.connect(1);
    CHECK(sent<Decline>(node.hear(1, Election{9})) == std::vector<Decline>{{9}});
}

// B2.1
TEST_CASE("bully: who may stand says OK, others decline") {
    Config config = test::config_for(3, {1, 2, 3});
    SUBCASE("connected to a majority") {
        NodeFixture node(config);
        node.recover();
        node.accept(1);
        node.dial(1);
        node.hear_heartbeat(1);
        node.hear(1, Nack{node.own_incarnation(), {5001}, NackReason::busy, nobody, {}, {}, false});
        node.hear(1, node.heartbeat_from(1));
        node.after(node.timing().campaign_wait);  // its own candidacy came to nothing
        REQUIRE(node.role() == Role::follower);
        CHECK(sent<Ok>(node.hear(1, Election{9})) == std::vector<Ok>{{9}});
    }
    SUBCASE("without a majority") {
        NodeFixture node(config);
        node.recover();
        node.accept(1);
        node.dial(1);
        CHECK(sent<Decline>(node.hear(1, Election{9})) == std::vector<Decline>{{9}});
    }
    SUBCASE("priority never") {
        config.priority = Priority::never();
        NodeFixture node(config);
        node.recover();
        node.connect(1);
        CHECK(sent<Decline>(node.hear(1, Election{9})) == std::vector<Decline>{{9}});
    }
}

TEST_CASE("bully: a higher node grants a lower one's request and holds no counter-election") {
    NodeFixture node = fresh(3);
    node.accept(1);
    node.dial(1);
    const Actions actions = node.hear(1, node.candidacy(5001));
    CHECK(sent<Grant>(actions).size() == 1);
    CHECK(sent<Election>(actions).empty());
    CHECK(node.role() == Role::follower);
}

// ---- When it starts.

TEST_CASE("bully: when the leader is gone a node waits δ for each connected higher node") {
    for (const std::uint64_t self : {1U, 2U, 3U}) {
        NodeFixture node(test::config_for(self, {1, 2, 3, 4, 5}));
        node.recover();
        node.accept(5);
        node.dial(5);
        node.hear(5, node.renewal(5001));
        node.hear_heartbeat(5);
        for (const std::uint64_t peer : {1U, 2U, 3U, 4U})
            if (peer != self) node.connect(peer);
        node.run(milliseconds(40));
        Actions actions = node.lose(5);
        const auto higher = static_cast<std::int64_t>(4 - self);
        CHECK(only<ElectionStarted>(actions).empty());
        CHECK(only<ElectionStarted>(node.after(node.timing().stagger * higher - Duration{1}))
                  .empty());
        CHECK(only<ElectionStarted>(node.after(Duration{1})).size() == 1);
    }
}

TEST_CASE("bully: the highest survivor stands in the very step in which the leader's FIN is read") {
    NodeFixture node(test::config_for(2, {1, 2, 3}));
    node.recover();
    node.accept(3);
    node.dial(3);
    node.hear(3, node.renewal(5001));
    node.hear_heartbeat(3);
    node.connect(1);
    const Coordinator request{{5002}, node.timing().campaign_lease, node.now(), false, true};
    CHECK(without_heartbeats(node.lose(3)) ==
          Actions{ElectionStarted{{5002}, "no leader is known"},
                  RoleChanged{Role::candidate, {5002}}, Send{node.dialled(1), request},
                  Send{node.dialled(3), request}, PeerDown{{3}, PeerDownReason::eof},
                  LeaderChanged{nobody, {5001}, "", false, node.now()}});
}

TEST_CASE("bully: who asked before there was a leader is no reason for the election after it") {
    NodeFixture node(test::config_for(2, {1, 2, 3}));
    node.recover();
    node.connect(3);
    node.connect(1);
    REQUIRE(sent<Ok>(node.hear(1, Election{9})).size() == 1);
    node.hear(3, node.renewal(5001));
    CHECK(only<ElectionStarted>(node.lose(3)) ==
          std::vector<ElectionStarted>{{{5002}, "no leader is known"}});
}

TEST_CASE("bully: what others still say of a dead leader does not hold the survivor up") {
    NodeFixture node(test::config_for(2, {1, 2, 3}));
    node.recover();
    node.accept(3);
    node.dial(3);
    node.hear(3, node.renewal(5001));
    node.hear_heartbeat(3);
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.leader = {3};
    heartbeat.leader_epoch = {5001};
    heartbeat.leader_announced = true;
    heartbeat.leader_remaining = milliseconds(450);
    node.says(1, heartbeat);
    node.connect(1);
    node.lose(3);
    CHECK(node.role() == Role::candidate);
}

// B1.2
TEST_CASE("bully: at a cold start a lower node waits for a higher one that is still silent") {
    NodeFixture node = fresh(2);
    node.connect(1);
    Heartbeat heartbeat = node.heartbeat_from(3);
    heartbeat.recovering = true;
    node.says(3, heartbeat);
    node.connect(3);
    const Duration patience = node.timing().promise(node.timing().lease);
    CHECK(only<ElectionStarted>(node.run(patience - milliseconds(10))).empty());
    CHECK_FALSE(only<ElectionStarted>(node.run(milliseconds(20))).empty());
}

// B1.2
TEST_CASE("bully: at a cold start a lower node waits for a higher one that it cannot ask yet") {
    NodeFixture node = fresh(2);
    // Its heartbeat is here before the answer on the session to it.
    node.accept(3);
    Actions actions = node.hear_heartbeat(3);
    test::append(actions, node.connect(1));
    CHECK(only<ElectionStarted>(actions).empty());
    CHECK(sent<Election>(node.dial(3)).size() == 1);
}

}  // namespace
}  // namespace bullring::protocol::bully_test
