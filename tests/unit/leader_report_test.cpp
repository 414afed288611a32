// Reports of a change of leader to users: since when nobody has led, as far as the node knows.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::leader_report_test {
namespace {

using namespace test;

/// Node 1 of five, which only votes, has just granted a renewal of epoch 5001 to node 5.
NodeFixture follower(FastRelease fast_release = FastRelease::fin) {
    Config config = test::config_for(1, {1, 2, 3, 4, 5});
    config.priority = Priority::never();
    config.fast_release = fast_release;
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : {2U, 3U, 4U, 5U}) node.connect(peer);
    node.hear(5, Coordinator{{5001}, node.timing().lease, node.now(), true, false});
    REQUIRE(node.view().leader == NodeId{5});
    return node;
}

/// Peer 2 names a leader.
Heartbeat naming(const NodeFixture& node, std::uint64_t leader, std::uint64_t epoch, bool hears) {
    Heartbeat heartbeat = node.heartbeat_from(2);
    heartbeat.leader = {leader};
    heartbeat.leader_epoch = {epoch};
    heartbeat.leader_announced = true;
    heartbeat.leader_remaining = node.timing().lease;
    const Index index = *node.config().members.index({leader});
    hears ? heartbeat.heard.insert(index) : heartbeat.heard.erase(index);
    return heartbeat;
}

/// Until nobody leads any more as far as the node knows. `each(i)`: what it hears in step i.
template <class Each>
LeaderChanged lost(NodeFixture& node, const Each& each) {
    for (int i = 0; i < 1'000; ++i) {
        Actions actions = each(i);
        append(actions, node.after(milliseconds(5)));
        const auto changes = only<LeaderChanged>(actions);
        if (!changes.empty()) return changes[0];
    }
    FAIL("the leader was never lost");
    return {};
}
LeaderChanged lost(NodeFixture& node) {
    return lost(node, [](int) { return Actions{}; });
}

}  // namespace

TEST_CASE("leader report: the first leader is told without a time before it") {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    node.connect(3);
    const Actions actions =
        node.hear(3, Coordinator{{5001}, node.timing().lease, node.now(), true, false});
    CHECK(!only_one<LeaderChanged>(actions).unled_since);
}

TEST_CASE("leader report: nobody leads since the last message of a leader that fell silent") {
    NodeFixture node = follower();
    const Instant last = node.now();
    const LeaderChanged loss = lost(node);
    CHECK(loss.leader == nobody);
    CHECK(loss.unled_since == last);
    CHECK(elapsed(last, node.now()) >= node.timing().lease);
    // And so it stays until there is the next one.
    const auto next = only<LeaderChanged>(node.hear(2, naming(node, 2, 5002, false)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].leader == NodeId{2});
    CHECK(next[0].unled_since == last);
}

TEST_CASE("leader report: a next leader that is there before the loss says since when, too") {
    NodeFixture node = follower();
    const Instant last = node.now();
    node.pass(node.timing().suspect_after * 2);
    const auto next = only<LeaderChanged>(node.hear(2, naming(node, 2, 5002, false)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].unled_since == last);
}

TEST_CASE("leader report: who is heard when the next one leads has led until then") {
    NodeFixture node = follower();
    node.pass(node.timing().heartbeat);
    const auto next = only<LeaderChanged>(node.hear(2, naming(node, 2, 5002, false)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].unled_since == node.now());
}

TEST_CASE("leader report: a process that has ended led until then, whatever binds its voters") {
    NodeFixture node = follower(FastRelease::off);
    node.pass(milliseconds(7));
    node.lose(5);
    const Instant ended = node.now();
    SUBCASE("it stays away") {}
    SUBCASE("it is back at once, as another run") {
        node.pass(milliseconds(3));
        node.new_incarnation(5);
        node.connect(5);
    }
    const LeaderChanged loss = lost(node);
    CHECK(loss.unled_since == ended);
    CHECK(elapsed(ended, node.now()) > milliseconds(100));
}

TEST_CASE("leader report: a leader that others hear lives by their word") {
    NodeFixture node = follower();
    Instant vouched;
    const LeaderChanged loss = lost(node, [&](int i) {
        // In the end node 2 does not hear it either, and still names it.
        if (i == 350) return node.hear(2, node.heartbeat_from(2));
        if (i < 300) vouched = node.now();
        return node.hear(2, naming(node, 5, 5001, i < 300));
    });
    CHECK(loss.unled_since == vouched);
    CHECK(elapsed(vouched, node.now()) == milliseconds(52 * 5));
}

TEST_CASE("leader report: that others heard a silent leader a little longer is no sign of life") {
    NodeFixture node = follower();
    const Instant last = node.now();
    const int suspects = static_cast<int>(node.timing().suspect_after.ns / milliseconds(5).ns) + 10;
    const LeaderChanged loss = lost(node, [&](int i) {
        return node.hear(2, i < suspects ? naming(node, 5, 5001, true) : node.heartbeat_from(2));
    });
    CHECK(loss.unled_since == last);
}

TEST_CASE("leader report: a leader that stood still has led until the end of its lease") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    node.run_granted(node.timing().lease * 2);
    const Instant end = node.now() + node.view().lease_left;
    node.pass(seconds(5));
    const auto loss = only<LeaderChanged>(node.wake());
    REQUIRE(loss.size() == 1);
    CHECK(loss[0].unled_since == end);
}

TEST_CASE("leader report: one that has ended is not brought to life by who has not heard of it") {
    NodeFixture node = follower(FastRelease::notice);
    node.hear(2, naming(node, 4, 5002, true));
    node.pass(milliseconds(20));
    const Instant ended = node.now();
    node.lose(4, SessionEnd::truncated);
    node.pass(milliseconds(1));
    REQUIRE(only<LeaderChanged>(node.hear(2, node.heartbeat_from(2))).size() == 1);
    node.pass(milliseconds(1));
    const auto again = only<LeaderChanged>(node.hear(2, naming(node, 4, 5002, true)));
    REQUIRE(again.size() == 1);
    CHECK(again[0].leader == NodeId{4});
    node.pass(milliseconds(1));
    const auto next = only<LeaderChanged>(node.hear(2, naming(node, 2, 5003, false)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].unled_since == ended);
    CHECK(next[0].after_end);
}

TEST_CASE("leader report: the death of one that was known by name alone ends it, and no earlier") {
    NodeFixture node = follower(FastRelease::notice);
    node.lose(4);
    node.pass(seconds(1));
    node.hear(2, naming(node, 4, 5002, true));
    REQUIRE(node.view().leader == NodeId{4});
    const Instant named = node.now();
    node.pass(milliseconds(20));
    node.step(Died{{4}, node.incarnation_of(4)});
    node.pass(node.timing().lease);
    const auto next = only<LeaderChanged>(node.hear(2, naming(node, 2, 5003, false)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].unled_since == named);
    CHECK(next[0].after_end);
}

TEST_CASE("leader report: one of whom nothing but a name was heard has led since it was named") {
    NodeFixture node = follower();
    lost(node);
    node.hear(2, naming(node, 4, 5002, false));
    const Instant named = node.now();
    node.lose(4, SessionEnd::reset);
    node.pass(milliseconds(50));
    const auto loss = only<LeaderChanged>(node.hear(2, node.heartbeat_from(2)));
    REQUIRE(loss.size() == 1);
    CHECK(loss[0].unled_since == named);
}

}  // namespace bullring::protocol::leader_report_test
