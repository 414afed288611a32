// Failure detection (§6): heard, connected both ways, a majority, and who knows of which leader.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::peers_test {
namespace {

using namespace test;

/// Node 1 of five, the lowest; it would stand after T_ok if nobody answered its polls.
NodeFixture voter(std::vector<std::uint64_t> peers = {2, 3, 4, 5}) {
    Config config = test::config_for(1, {1, 2, 3, 4, 5});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : peers) node.connect(peer);
    return node;
}
Heartbeat naming(const NodeFixture& node, std::uint64_t peer, std::uint64_t leader,
                 std::uint64_t epoch) {
    Heartbeat heartbeat = node.heartbeat_from(peer);
    heartbeat.leader = {leader};
    heartbeat.leader_epoch = {epoch};
    heartbeat.leader_announced = true;
    heartbeat.leader_remaining = milliseconds(400);
    return heartbeat;
}
Heartbeat last_heartbeat(const Actions& actions) {
    const std::vector<Heartbeat> heartbeats = sent<Heartbeat>(actions);
    REQUIRE_FALSE(heartbeats.empty());
    return heartbeats.back();
}

TEST_CASE("peers: a peer is connected when it is heard and hears this node") {
    NodeFixture node = voter({});
    node.accept(2);
    CHECK(node.view().connected.empty());
    Heartbeat deaf = node.heartbeat_from(2);
    deaf.heard = {};
    CHECK(only<PeerUp>(node.hear(2, deaf)).empty());
    CHECK(only<PeerUp>(node.hear_heartbeat(2)) == std::vector<PeerUp>{{{2}}});
    CHECK(only<PeerDown>(node.hear(2, deaf)) ==
          std::vector<PeerDown>{{{2}, PeerDownReason::timeout}});
}

TEST_CASE("peers: after T_s without a message a peer is not heard, and its host is woken for it") {
    NodeFixture node = voter({2});
    const Instant last = node.now();
    Actions all;
    for (int wakes = 0; wakes < 50 && !node.view().connected.empty(); ++wakes)
        test::append(all, node.after(node.node().until_wake(node.now())));
    CHECK(node.now() == last + node.timing().suspect_after);
    CHECK(only<PeerDown>(all) == std::vector<PeerDown>{{{2}, PeerDownReason::timeout}});
}

// P1.1
TEST_CASE(
    "peers: nobody is suspected before three of its own heartbeats, as far as these are sound") {
    const auto silence_of = [](Duration period) {
        NodeFixture node = voter({});
        HelloReceived hello = node.hello_from(2);
        hello.hello.heartbeat_period = period;
        node.accept(hello);
        node.dial(2);
        node.hear_heartbeat(2);
        const Instant last = node.now();
        for (int wakes = 0; wakes < 1000 && !node.view().connected.empty(); ++wakes)
            node.after(node.node().until_wake(node.now()));
        return elapsed(last, node.now());
    };
    const Timing timing = voter({}).timing();
    CHECK(silence_of(Duration{0}) == timing.suspect_after);
    CHECK(silence_of(timing.heartbeat) == timing.suspect_after);
    CHECK(silence_of(timing.suspect_after) == timing.suspect_after * 3);
    const Duration longest = timing.lease_max / 5;
    CHECK(silence_of(longest) == longest * 3);
    for (const Duration wild : {longest + Duration{1}, forever, Duration{INT64_MAX}})
        CHECK(silence_of(wild) == longest * 3);
    CHECK(silence_of(Duration{INT64_MIN}) == timing.suspect_after);
}

TEST_CASE("peers: a HELLO tells its sender's heartbeat") {
    NodeFixture node = voter({});
    const Actions actions = node.step(Dialled{{2}, {70000}, {"a", "b"}});
    CHECK(sent_one<Hello>(actions).heartbeat_period == node.timing().heartbeat);
}

TEST_CASE("peers: any message counts as heard, not only heartbeats") {
    NodeFixture node = voter({2});
    for (int i = 0; i < 5; ++i) {
        node.pass(node.timing().suspect_after - Duration{1});
        node.hear(2, Ok{1});
    }
    CHECK(node.view().connected.size() == 1);
}

TEST_CASE("peers: the end of its newest session makes a peer unheard until its next HELLO") {
    NodeFixture node = voter({2});
    const SessionId older = node.accepted(2);
    node.accept(2);
    node.hear_heartbeat(2);
    CHECK(only<PeerDown>(node.lose(2, SessionEnd::reset)) ==
          std::vector<PeerDown>{{{2}, PeerDownReason::reset}});
    node.step(Receive{older, node.heartbeat_from(2)});
    CHECK(node.view().connected.empty());
    node.accept(2);
    CHECK(only<PeerUp>(node.hear_heartbeat(2)) == std::vector<PeerUp>{{{2}}});
}

TEST_CASE("peers: a peer that refuses this node's HELLO is not connected, whatever its mask says") {
    NodeFixture node = voter({2});
    const Refused refused{"id", "another process with id 1 is connected", "1"};
    node.step(SessionEnded{node.dialled(2), SessionEnd::reset});
    node.hear_heartbeat(2);
    CHECK(node.view().connected.size() == 1);  // both ways, as far as anybody knows
    node.step(Dialled{{2}, {2500}, {}});
    CHECK(only<PeerDown>(node.step(Receive{{2500}, refused})) ==
          std::vector<PeerDown>{{{2}, PeerDownReason::refused}});
    node.hear_heartbeat(2);  // whom it hears is the other process
    CHECK(node.view().connected.empty());
    node.step(Dialled{{2}, {2501}, {}});
    CHECK(only<PeerUp>(node.step(Receive{{2501}, node.ack_from(2)})) == std::vector<PeerUp>{{{2}}});
}

TEST_CASE("peers: the next run of a peer that has refused this node is asked anew") {
    NodeFixture node = voter({2});
    node.step(SessionEnded{node.dialled(2), SessionEnd::reset});
    node.step(Dialled{{2}, {2500}, {}});
    node.step(Receive{{2500}, Refused{"id", "another process", "1"}});
    CHECK(node.view().connected.empty());
    node.new_incarnation(2);
    node.lose(2, SessionEnd::eof);
    node.accept(2);
    CHECK(only<PeerUp>(node.hear_heartbeat(2)) == std::vector<PeerUp>{{{2}}});
}

TEST_CASE("peers: a late heartbeat on an older session does not replace the newest one's") {
    NodeFixture node = voter({2});
    const SessionId older = node.accepted(2);
    node.accept(2);
    node.hear(2, naming(node, 2, 3, 5001));
    CHECK(node.view().leader == NodeId{3});
    node.step(Receive{older, node.heartbeat_from(2)});
    CHECK(node.view().leader == NodeId{3});
}

TEST_CASE("peers: a majority needs this node and q−1 connected others") {
    NodeFixture node = voter({2});
    CHECK_FALSE(node.view().quorum_connected);
    node.connect(3);
    CHECK(node.view().quorum_connected);
    node.lose(2);
    CHECK_FALSE(node.view().quorum_connected);
}

TEST_CASE("peers: each heartbeat period everybody is told whom this node hears") {
    NodeFixture node = voter({2, 3});
    node.run(milliseconds(100));
    const std::vector<Heartbeat> heartbeats = sent<Heartbeat>(node.run(milliseconds(50)));
    REQUIRE(heartbeats.size() == 2);
    MemberSet heard;
    heard.insert(1);
    heard.insert(2);
    CHECK(heartbeats[0].heard == heard);
    CHECK(heartbeats[0] == heartbeats[1]);
    CHECK(heartbeats[0].quorum_connected);
    CHECK_FALSE(heartbeats[0].eligible);  // priority never
}

TEST_CASE("peers: a change is told within δ and not only with the period") {
    NodeFixture node = voter({2, 3});
    node.run(milliseconds(100));
    node.hear(2, node.renewal(5001));
    const Heartbeat heartbeat = last_heartbeat(node.after(node.timing().stagger));
    CHECK(heartbeat.leader == NodeId{2});
    CHECK(heartbeat.leader_epoch == Epoch{5001});
    CHECK(heartbeat.leader_announced);
    CHECK(heartbeat.leader_remaining ==
          node.timing().promise(node.timing().lease) - node.timing().stagger);
}

// ---- First-hand and second-hand.

TEST_CASE("peers: a promise to a candidate is not a leader towards users but told as a promise") {
    NodeFixture node = voter({2, 3});
    node.hear(2, node.candidacy(5001));
    CHECK(node.view().leader == nobody);
    const Heartbeat heartbeat = last_heartbeat(node.run(milliseconds(50)));
    CHECK(heartbeat.leader == NodeId{2});
    CHECK_FALSE(heartbeat.leader_announced);
}

TEST_CASE("peers: a leader that others speak of is followed but never spoken of") {
    NodeFixture node = voter({2, 3});
    CHECK(only<LeaderChanged>(node.hear(2, naming(node, 2, 5, 5001))) ==
          std::vector<LeaderChanged>{{{5}, {5001}, ""}});
    const Heartbeat heartbeat = last_heartbeat(node.after(milliseconds(50)));
    CHECK(heartbeat.leader == nobody);
    CHECK(heartbeat.leader_epoch == Epoch{});
}

TEST_CASE(
    "peers: hearsay is dropped when its sender stops saying so, is lost, or its time is over") {
    NodeFixture node = voter({2, 3});
    node.hear(2, naming(node, 2, 5, 5001));
    REQUIRE(node.view().leader == NodeId{5});
    SUBCASE("stops saying so") { node.hear(2, node.heartbeat_from(2)); }
    SUBCASE("is lost") { node.lose(2); }
    SUBCASE("is silent") { node.after(node.timing().suspect_after); }
    SUBCASE("its time is over") {
        for (int i = 0; i < 4; ++i) {
            node.pass(milliseconds(100));
            node.hear(2, Ok{1});
        }
    }
    CHECK(node.view().leader == nobody);
}

TEST_CASE("peers: hearsay of a holder whose end this node has seen itself is ignored") {
    NodeFixture node = voter({2, 3});
    node.hear(3, node.renewal(5001));
    SUBCASE("heard before its FIN") {
        node.hear(2, naming(node, 2, 3, 5001));
        node.lose(3);
    }
    SUBCASE("heard after its FIN") {
        node.lose(3);
        node.hear(2, naming(node, 2, 3, 5001));
    }
    SUBCASE("heard before its RESIGN") {
        node.hear(2, naming(node, 2, 3, 5001));
        node.hear(3, Resign{{5001}, nobody});
    }
    SUBCASE("heard after its RESIGN") {
        node.hear(3, Resign{{5001}, nobody});
        node.hear(2, naming(node, 2, 3, 5001));
    }
    CHECK(node.view().leader == nobody);
    node.hear(2, naming(node, 2, 4, 5002));
    CHECK(node.view().leader == NodeId{4});
}

TEST_CASE("peers: when a holder that was gone leads again with a later epoch it is believed") {
    NodeFixture node = voter({2, 3});
    node.hear(3, node.renewal(5001));
    node.hear(3, Resign{{5001}, nobody});
    node.hear(2, naming(node, 2, 3, 5002));
    CHECK(node.view().leader == NodeId{3});
}

TEST_CASE("peers: a holder that is stepping down is no leader towards users and still binds") {
    NodeFixture node = voter({2, 3});
    node.hear(3, node.renewal(5001));
    REQUIRE(node.view().leader == NodeId{3});
    Heartbeat heartbeat = naming(node, 3, 3, 5001);
    heartbeat.stepping_down = true;
    CHECK(only<LeaderChanged>(node.hear(3, heartbeat)) ==
          std::vector<LeaderChanged>{{nobody, {5001}, "", false, node.now()}});
    const Actions refused = node.hear(2, node.candidacy(5002));
    CHECK(sent_one<Nack>(refused).reason == NackReason::busy);
}

TEST_CASE("peers: users are told of leaders in the order of their epochs") {
    NodeFixture node = voter({2, 3});
    node.hear(2, naming(node, 2, 5, 5005));
    const Instant told_at = node.now();
    node.pass(milliseconds(1));
    CHECK(only<LeaderChanged>(node.hear(2, naming(node, 2, 4, 5004))) ==
          std::vector<LeaderChanged>{{nobody, {5005}, "", false, told_at}});
    CHECK(only<LeaderChanged>(node.hear(2, naming(node, 2, 4, 5006))).size() == 1);
}

TEST_CASE("peers: who hears of a leader second-hand does not stand") {
    NodeFixture node(test::config_for(5, {1, 2, 3, 4, 5}));
    node.recover();
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.says(peer, naming(node, peer, 4, 5001));
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.connect(peer);
    CHECK(only<ElectionStarted>(node.run(seconds(1))).empty());
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.says(peer, node.heartbeat_from(peer));
    CHECK_FALSE(only<ElectionStarted>(node.run(milliseconds(100))).empty());
}

TEST_CASE("peers: BUSY tells of the leader to a candidate that cannot reach it") {
    NodeFixture node(test::config_for(5, {1, 2, 3, 4, 5}));
    node.recover();
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.connect(peer);
    REQUIRE(node.role() == Role::candidate);
    for (const std::uint64_t peer : {1U, 2U, 3U})
        node.hear(peer, Nack{node.own_incarnation(),
                             node.last_request(peer)->epoch,
                             NackReason::busy,
                             {4},
                             {4999},
                             milliseconds(400),
                             false});
    REQUIRE(node.role() == Role::follower);
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.says(peer, naming(node, peer, 4, 4999));
    CHECK(only<ElectionStarted>(node.run(seconds(1))).empty());
}

}  // namespace
}  // namespace bullring::protocol::peers_test
