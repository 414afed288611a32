// quorum none (§10): the textbook's algorithms, without a lease, a promise or a majority.
#include <algorithm>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::textbook_test {
namespace {

using namespace test;

NodeFixture node_of(std::uint64_t self, Algorithm algorithm = Algorithm::bully) {
    Config config = test::config_for(self, {1, 2, 3}, algorithm);
    config.quorum = QuorumMode::none;
    return NodeFixture(config, test::start_without_file(config));
}
/// A heartbeat by which `peer` says that it leads.
Heartbeat leading(const NodeFixture& node, std::uint64_t peer, std::uint64_t epoch) {
    Heartbeat heartbeat = node.heartbeat_from(peer);
    heartbeat.leader = {peer};
    heartbeat.leader_epoch = {epoch};
    heartbeat.leader_announced = true;
    heartbeat.leader_remaining = node.timing().suspect_after;
    return heartbeat;
}

TEST_CASE("textbook: there is no silence, nothing is written and nothing is fenced") {
    NodeFixture node = node_of(3);
    Actions actions = node.wake();
    test::append(actions, node.connect(1));
    test::append(actions, node.connect(2));
    test::append(actions, node.run(seconds(2)));
    CHECK(only<Persist>(actions).empty());
    CHECK_FALSE(node.view().recovering);
    CHECK_FALSE(node.view().fenced);
}

TEST_CASE("textbook: the highest of all leads at once and announces itself") {
    NodeFixture node = node_of(3);
    node.connect(1);
    const Actions actions = node.connect(2);
    CHECK(node.role() == Role::leader);
    CHECK(only<StartTask>(actions) == std::vector<StartTask>{{{1}}});
    const std::vector<Coordinator> announced = sent<Coordinator>(actions);
    REQUIRE(announced.size() == 2);
    CHECK(announced[0].renew);
    CHECK(announced[0].epoch == Epoch{1});
}

TEST_CASE("textbook: who is told of a leader that it does not hear waits before it asks again") {
    NodeFixture node = node_of(1);
    node.connect(2);
    node.accept(3);
    node.dial(3);
    node.hear(3, leading(node, 3, 4));
    node.lose(3, SessionEnd::timeout);  // not EOF, which would be its end
    const Election asked = sent_one<Election>(node.after(node.timing().stagger * 4));
    const Duration wait = node.timing().coordinator_wait;
    const Actions told = node.hear(2, LeaderIs{asked.attempt, {3}, {4}, milliseconds(80)});
    CHECK(sent<Election>(told).empty());
    CHECK(sent<Election>(node.run(wait - Duration{1})).empty());
    CHECK_FALSE(node.view().leader);
    CHECK(sent<Election>(node.run(Duration{1})).size() == 1);
}

TEST_CASE("textbook: a node that is alone leads after T_s, so that each part has its leader") {
    NodeFixture node = node_of(1);
    node.wake();
    node.after(node.timing().suspect_after - Duration{1});
    CHECK(node.role() == Role::follower);
    node.after(Duration{1});
    CHECK(node.role() == Role::leader);
}

TEST_CASE("textbook: whoever announces itself is followed") {
    NodeFixture node = node_of(1);
    node.says(3, leading(node, 3, 7));
    node.connect(3);
    CHECK(node.view().leader == NodeId{3});
    CHECK(node.view().epoch == Epoch{7});
    CHECK(only<ElectionStarted>(node.run(seconds(1))).empty());
}

TEST_CASE("textbook: of two that announce themselves the higher one is followed") {
    NodeFixture node = node_of(1);
    node.says(2, leading(node, 2, 9));
    node.says(3, leading(node, 3, 7));
    node.connect(2);
    CHECK(node.view().leader == NodeId{2});
    node.connect(3);
    CHECK(node.view().leader == NodeId{3});
}

TEST_CASE(
    "textbook: a leader that hears one of higher rank steps down, and a lower one does not "
    "matter") {
    NodeFixture node = node_of(2);
    node.wake();
    node.after(node.timing().suspect_after);
    REQUIRE(node.role() == Role::leader);
    const Epoch epoch = node.view().epoch;
    node.says(1, leading(node, 1, 50));
    node.connect(1);
    CHECK(node.role() == Role::leader);
    node.says(3, leading(node, 3, 50));
    const Actions actions = node.connect(3);
    CHECK(only<StopTask>(actions) == std::vector<StopTask>{{epoch, DeposedReason::higher_rank}});
    node.step(TaskEnded{epoch});
    CHECK(node.role() == Role::follower);
    CHECK(node.view().leader == NodeId{3});
}

TEST_CASE("textbook: the highest bullies a lower leader that is there when it starts") {
    NodeFixture node = node_of(3);
    node.says(1, leading(node, 1, 50));
    node.says(2, leading(node, 2, 50));
    node.connect(1);
    node.connect(2);
    CHECK(node.role() == Role::leader);
    CHECK(node.view().epoch > Epoch{50});
}

TEST_CASE("textbook: followers suspect a silent leader after T_s and elect another") {
    NodeFixture node = node_of(2);
    node.says(3, leading(node, 3, 7));
    node.connect(3);
    node.connect(1);
    REQUIRE(node.view().leader == NodeId{3});
    for (int i = 0; i < 6; ++i) {
        node.pass(node.timing().heartbeat);
        node.hear_heartbeat(1);
        node.wake();
    }
    CHECK(node.role() == Role::leader);
    CHECK(node.view().epoch > Epoch{7});
}

TEST_CASE("textbook: no request is granted and no promise binds") {
    NodeFixture node = node_of(1);
    node.connect(3);
    const Actions actions = node.hear(3, node.renewal(7));
    CHECK(sent<Grant>(actions).empty());
    CHECK(sent<Nack>(actions).empty());
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("textbook: a leadership lasts without any grant") {
    NodeFixture node = node_of(3);
    node.connect(1);
    node.connect(2);
    CHECK(only<StopTask>(node.run(seconds(5))).empty());
    CHECK(node.role() == Role::leader);
}

TEST_CASE("textbook: a leader hands over by RESIGN and the named one stands at once") {
    NodeFixture leader = node_of(3);
    leader.connect(1);
    leader.connect(2);
    const Epoch epoch = leader.view().epoch;
    leader.step(ResignRequested{{1}, {}});
    CHECK(sent<Resign>(leader.step(TaskEnded{epoch})) ==
          std::vector<Resign>{{epoch, {1}}, {epoch, {1}}});

    NodeFixture named = node_of(1);
    named.says(3, leading(named, 3, 7));
    named.connect(3);
    named.connect(2);
    named.hear(3, Resign{{7}, {1}});
    CHECK(named.role() == Role::leader);
}

// ---- Ring.

TEST_CASE("textbook: the ring's token is a plain circle, without acknowledgements") {
    NodeFixture node = node_of(2, Algorithm::ring);
    node.connect(1);
    const Actions started = node.connect(3);
    REQUIRE(sent<Token>(started).size() == 1);
    CHECK(sent<Token>(node.run(milliseconds(100))).empty());  // no hop is repeated
    Token better;
    better.walk = node.walk_from(3, {2});
    const Actions actions = node.hear(3, better);
    CHECK(sent<TokenAck>(actions).empty());
    CHECK(sent<Token>(actions).size() == 1);
}

TEST_CASE("textbook: the first token waits until it can be sent to all that are heard") {
    NodeFixture node = node_of(2, Algorithm::ring);
    node.connect(1);
    // Its heartbeat is here before the answer on the session to it.
    node.accept(3);
    node.hear_heartbeat(3);
    CHECK(sent<Token>(node.wake()).empty());
    const Actions actions = node.dial(3);
    REQUIRE(sent<Token>(actions).size() == 1);
    const std::vector<Send> sends = only<Send>(actions);
    CHECK(std::any_of(sends.begin(), sends.end(), [&](const Send& send) {
        return std::holds_alternative<Token>(send.message) && send.session == node.dialled(3);
    }));
}

TEST_CASE("textbook: its own token, once back, makes a leader, whichever nodes it has met") {
    NodeFixture node = node_of(3, Algorithm::ring);
    node.connect(1);
    Token back = sent_one<Token>(node.connect(2));
    back.walk.step = 3;
    back.walk.visited.insert(0);
    back.walk.visited.insert(1);
    const Actions actions = node.hear(2, back);
    CHECK(node.role() == Role::leader);
    CHECK(sent<CoordinatorToken>(actions).size() == 1);
}

TEST_CASE("textbook: the coordinator token announces its owner wherever it comes") {
    NodeFixture node = node_of(1, Algorithm::ring);
    node.connect(3);
    CoordinatorToken token;
    token.walk = node.walk_from(3, {2}, 1, 2);
    token.request = {{7}, node.timing().lease, node.now(), true, false};
    node.hear(3, token);
    CHECK(node.view().leader == NodeId{3});
    CHECK(node.view().epoch == Epoch{7});
}

}  // namespace
}  // namespace bullring::protocol::textbook_test
