// The death notice (R4): a promise ends when the run that it was given to is known to have ended,
// and nothing else ends it early where notices count.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::notice_test {
namespace {

using namespace test;

Config voter_config(FastRelease fast_release = FastRelease::notice) {
    Config config = test::config_for(1, {1, 2, 3, 4, 5});
    config.priority = Priority::never();  // it only votes
    config.fast_release = fast_release;
    return config;
}

Coordinator candidacy(const NodeFixture& node, std::uint64_t epoch) {
    return {{epoch}, node.timing().campaign_lease, node.now(), false, false};
}
Coordinator renewal(const NodeFixture& node, std::uint64_t epoch) {
    return {{epoch}, node.timing().lease, node.now(), true, false};
}

/// A voter of five that has just granted a renewal of epoch 5001 to node 5.
NodeFixture promised(const Config& config = voter_config()) {
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : {2U, 3U, 4U, 5U}) node.connect(peer);
    REQUIRE(sent<Grant>(node.hear(5, renewal(node, 5001))).size() == 1);
    return node;
}
Died death_of_5(NodeFixture& node) { return {{5}, node.incarnation_of(5)}; }

// N3.4, N3.5
TEST_CASE("notice: it ends the promise, closes the sessions, and serves who waits, in one step") {
    NodeFixture node = promised();
    const Coordinator asked = candidacy(node, 5002);
    REQUIRE(sent<Nack>(node.hear(4, asked)).size() == 1);
    const SessionId session = node.accepted(5);
    const Actions actions = without_heartbeats(node.step(death_of_5(node)));
    CHECK(only<CloseSession>(actions) == std::vector<CloseSession>{{session}});
    CHECK(sent_one<Grant>(actions).epoch == Epoch{5002});
    CHECK(only<PeerDown>(actions) == std::vector<PeerDown>{{{5}, PeerDownReason::eof}});
    CHECK(only<LeaderChanged>(actions) ==
          std::vector<LeaderChanged>{{nobody, {5001}, "", false, node.now()}});
    CHECK(node.view().promised_to == NodeId{4});
}

// N4.2
TEST_CASE("notice: where it is waited for, a FIN releases nothing") {
    NodeFixture node = promised();
    node.hear(4, candidacy(node, 5002));
    node.lose(5);
    CHECK(node.view().promised_to == NodeId{5});
    node.step(death_of_5(node));
    CHECK(node.view().promised_to == NodeId{4});
}

// N3.4
TEST_CASE("notice: of another run, of another member, or of this one, it ends nothing") {
    NodeFixture node = promised();
    const Died old = death_of_5(node);
    node.step(Died{{5}, {old.incarnation.value + 1}});
    node.step(Died{{4}, old.incarnation});
    node.step(Died{{1}, node.own_incarnation()});
    node.step(Died{{9}, old.incarnation});
    CHECK(node.view().promised_to == NodeId{5});
    node.hear(5, renewal(node, 5001));
    CHECK(node.view().leader == NodeId{5});
}

// N4.2
TEST_CASE("notice: where FINs release, or nothing does, it ends nothing") {
    for (const FastRelease other : {FastRelease::fin, FastRelease::off}) {
        NodeFixture node = promised(voter_config(other));
        CHECK(without_heartbeats(node.step(death_of_5(node))) == Actions{});
        CHECK(node.view().promised_to == NodeId{5});
    }
}

// N3.5
TEST_CASE("notice: the run that has ended is not listened to any more, and its successor is") {
    NodeFixture node = promised();
    const SessionId session = node.accepted(5);
    const Coordinator late = renewal(node, 5001);
    HelloReceived unread = node.hello_from(5);
    node.step(death_of_5(node));
    CHECK(without_heartbeats(node.step(Receive{session, late})) == Actions{});
    CHECK(without_heartbeats(node.step(unread)) == Actions{CloseSession{unread.session}});
    CHECK(node.view().promised_to == nobody);
    node.new_incarnation(5);
    node.connect(5);
    CHECK(sent<Grant>(node.hear(5, candidacy(node, 5003))).size() == 1);
}

// N3.5
TEST_CASE("notice: a request that it had parked is dropped with its run") {
    NodeFixture node = promised();
    node.hear(4, candidacy(node, 5002));
    node.step(Died{{4}, node.incarnation_of(4)});
    node.step(death_of_5(node));
    CHECK(node.view().promised_to == nobody);
}

// N3.5
TEST_CASE("notice: a token's request of that run is refused") {
    Config config = voter_config();
    config.algorithm = Algorithm::ring;
    NodeFixture node = promised(config);
    const Walk walk = node.walk_from(5, {4});
    node.step(death_of_5(node));
    node.hear(4, CoordinatorToken{walk, candidacy(node, 5002), {}, {}});
    CHECK(node.view().promised_to == nobody);
}

// N3.6
TEST_CASE("notice: who has stood in vain stands again at once") {
    Config config = test::config_for(4, {1, 2, 3, 4, 5});
    config.fast_release = FastRelease::notice;
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : {1U, 2U, 3U, 5U}) node.connect(peer);
    node.hear(5, renewal(node, 5001));
    const Died died = death_of_5(node);
    node.lose(5);
    node.pass(milliseconds(1));
    node.wake();
    const Actions actions = node.step(died);
    CHECK((node.role() == Role::candidate || !sent<Election>(actions).empty()));
}

TEST_CASE("notice: a change of leader says whether the one before has ended, by notice or by FIN") {
    const auto ended = [](FastRelease fast_release, const auto& end) {
        NodeFixture node = promised(voter_config(fast_release));
        node.pass(node.timing().suspect_after);
        REQUIRE(only<PeerDown>(node.wake())[0].reason == PeerDownReason::timeout);
        end(node);
        Heartbeat of_next = node.heartbeat_from(4);
        of_next.leader = {4};
        of_next.leader_epoch = {5002};
        of_next.leader_announced = true;
        of_next.leader_remaining = node.timing().lease;
        const auto changes = only<LeaderChanged>(node.hear(4, of_next));
        REQUIRE(changes.size() == 1);
        return changes[0].after_end;
    };
    const auto lost = [](SessionEnd how) {
        return [how](NodeFixture& node) { node.lose(5, how); };
    };
    CHECK(ended(FastRelease::notice, [](NodeFixture& node) { node.step(death_of_5(node)); }));
    CHECK(ended(FastRelease::notice, [](NodeFixture& node) {
        node.lose(5, SessionEnd::reset);
        node.step(death_of_5(node));
    }));
    CHECK(ended(FastRelease::fin, lost(SessionEnd::eof)));
    CHECK(ended(FastRelease::off, lost(SessionEnd::truncated)));
    CHECK(!ended(FastRelease::fin, lost(SessionEnd::reset)));
    CHECK(!ended(FastRelease::notice, [](NodeFixture&) {}));
    const auto back = [](bool another_run) {
        return [another_run](NodeFixture& node) {
            node.lose(5);
            if (another_run) node.new_incarnation(5);
            node.connect(5);
        };
    };
    CHECK(ended(FastRelease::fin, back(true)));
    CHECK(!ended(FastRelease::fin, back(false)));
}

// N4.1
TEST_CASE("notice: a holder asks for grants that no session's end releases, and says so") {
    Config config = test::config_for(3, {1, 2, 3});
    config.fast_release = FastRelease::notice;
    NodeFixture node(config);
    node.recover();
    const Actions dialled = node.step(Dialled{{1}, {2500}, {}});
    CHECK(sent_one<Hello>(dialled).fast_release == FastRelease::notice);
}

}  // namespace
}  // namespace bullring::protocol::notice_test
