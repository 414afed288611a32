// View::why: one short sentence that tells an operator why this node is what it is.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::why_test {
namespace {

using test::NodeFixture;

constexpr Epoch epoch{5001};

NodeFixture recovered(std::uint64_t self, Priority priority = {}) {
    Config config = test::config_for(self, {1, 2, 3});
    config.priority = priority;
    NodeFixture node(config);
    node.recover();
    return node;
}

/// Recovered, connected to both others, and node 3 leads.
NodeFixture follower(Priority priority = {}) {
    NodeFixture node = recovered(1, priority);
    node.connect(2);
    node.connect(3);
    node.hear(3, Coordinator{epoch, node.timing().lease, node.now(), false, true});
    node.hear(3, Coordinator{epoch, node.timing().lease, node.now(), true, true});
    REQUIRE(node.view().leader == NodeId{3});
    return node;
}

NodeFixture leader() {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    return node;
}

/// The only member, unhealthy, and its task of before has ended.
NodeFixture alone_and_unhealthy() {
    NodeFixture node(test::config_for(1, {1}));
    node.recover();
    node.step(HealthChanged{false});
    node.step(TaskEnded{node.view().epoch});
    REQUIRE(node.role() == Role::follower);
    return node;
}

}  // namespace

TEST_CASE("why: a follower that could stand says whom it follows, and no more") {
    CHECK(follower().view().why == "follows 3");
    CHECK(follower(Priority::never()).view().why == "follows 3");
}

TEST_CASE("why: an unhealthy follower says so, with what the host knows of it") {
    NodeFixture node = follower();
    node.step(HealthChanged{false});
    CHECK(node.view().why == "follows 3; unhealthy");
    CHECK(node.node().view(node.now(), {"exit 1 of health command", "", "", ""}).why ==
          "follows 3; unhealthy: exit 1 of health command");
}

TEST_CASE("why: a follower that was unhealthy says when it stands again, rounded up") {
    NodeFixture node = follower();
    node.step(HealthChanged{false});
    node.step(HealthChanged{true});
    const Instant again = node.now() + node.timing().preempt_delay;
    CHECK(node.view().why == "follows 3; was unhealthy; it stands again in 10 s");
    const auto why_before = [&](Duration left) {
        node.set_clock(again - left);
        node.hear(3, Coordinator{epoch, node.timing().lease, node.now(), true, true});
        return node.view().why;
    };
    CHECK(why_before(milliseconds(7001)) == "follows 3; was unhealthy; it stands again in 8 s");
    CHECK(why_before(seconds(1)) == "follows 3; was unhealthy; it stands again in 1000 ms");
    CHECK(why_before(microseconds(1)) == "follows 3; was unhealthy; it stands again in 1 ms");
    CHECK(why_before(Duration{0}) == "follows 3");
}

TEST_CASE("why: a node that is alone stands again as soon as it is healthy") {
    NodeFixture node = alone_and_unhealthy();
    CHECK(node.node().view(node.now(), {"exit 3 of health command", "", "", ""}).why ==
          "unhealthy: exit 3 of health command");
    node.step(HealthChanged{true});
    CHECK(node.view().why == "leads with grants of 1");
}

TEST_CASE("why: a follower that nobody works for says so, until somebody does again") {
    NodeFixture node = follower();
    node.step(Standing{false});
    CHECK(node.view().why == "follows 3; does not stand: it has nobody to do the work");
    CHECK(node.node().view(node.now(), {"", "its command has ended (exit 1)", "", ""}).why ==
          "follows 3; does not stand: its command has ended (exit 1)");
    node.step(Standing{true});
    CHECK(node.view().why == "follows 3");
}

TEST_CASE("why: what a node asks for in vain comes before its silence, and after its leader") {
    const HostReasons reasons{"", "", "", "asks h:1 to be added: h:1: refused"};
    CHECK(follower().node().view(follower().now(), reasons).why ==
          "follows 3; asks h:1 to be added: h:1: refused");
    Config config = test::config_for(4, {4});
    config.members = {};
    NodeFixture joiner(config, test::start_without_file(config));
    joiner.wake();
    CHECK(joiner.node().view(joiner.now(), reasons).why == reasons.joining);
}

TEST_CASE(
    "why: what has to be mended is told beside, whoever leads, and with a majority that is lost") {
    NodeFixture node = follower();
    CHECK(node.view().wrong.empty());
    node.step(Standing{false});
    const HostReasons reasons{"", "its command has ended (exit 1)", "", ""};
    const std::string wrong = "does not stand: its command has ended (exit 1)";
    CHECK(node.node().view(node.now(), reasons).wrong == wrong);
    NodeFixture alone = recovered(1);
    alone.step(Standing{false});
    CHECK(alone.node().view(alone.now(), reasons).why == "no majority: hears 1 of 3; " + wrong);
    CHECK(alone.node().view(alone.now(), reasons).wrong == wrong);
    CHECK(alone.node().view(alone.now(), {"", "", "not connected with 1, 2: expired", ""}).why ==
          "no majority: hears 1 of 3; not connected with 1, 2: expired; does not stand: it has "
          "nobody to do the work");
    NodeFixture silent(test::config_for(1, {1, 2, 3}));
    REQUIRE(silent.view().recovering);
    const std::string why_silent = silent.view().why;
    CHECK(silent.node().view(silent.now(), {"", "", "not connected with 2: expired", ""}).why ==
          why_silent + "; not connected with 2: expired");
}

TEST_CASE("why: a lease that too many refuse is told only where they refuse it") {
    NodeFixture node = recovered(2);
    for (const std::uint64_t peer : {1U, 3U}) {
        node.accept(peer);
        HelloAck ack = node.ack_from(peer);
        ack.lease_max = node.timing().lease - Duration{1};
        node.dial(peer, ack);
        node.hear_heartbeat(peer);
    }
    CHECK(node.view().why == "does not stand: too many members refuse so long a lease");
    node.hear(3, Coordinator{epoch, node.timing().lease, node.now(), false, true});
    node.hear(3, Coordinator{epoch, node.timing().lease, node.now(), true, true});
    CHECK(node.view().why == "follows 3; does not stand: too many members refuse so long a lease");
}

TEST_CASE("why: who never stands says so where nobody leads, and is not said to stand again") {
    NodeFixture node = recovered(1, Priority::never());
    node.connect(2);
    CHECK(node.view().why == "never a candidate");
    node.step(HealthChanged{false});
    CHECK(node.view().why == "unhealthy");
    node.step(HealthChanged{true});
    CHECK(node.view().why == "never a candidate");
}

TEST_CASE("why: a task that ends is told from one that has stalled, and from one that stays") {
    NodeFixture ends = leader();
    ends.step(ResignRequested{{1}, {Asker::observer, 77}});
    CHECK(ends.view().why == "steps down: its task is ending");

    NodeFixture stalled = leader();
    stalled.step(Stalled{});
    CHECK(stalled.view().why == "steps down: its task has stalled and has not ended");
    stalled.run(stalled.timing().lease * 4);
    CHECK(stalled.view().why == "steps down: its task has stalled and has not ended");

    NodeFixture stays = leader();
    stays.after(stays.timing().lease * 2);
    CHECK(stays.view().why == "steps down: its lease is over, its task has not ended");
    stays.step(TaskEnded{epoch});
    CHECK(stays.role() == Role::follower);
}

TEST_CASE("why: after its own resignation a node says that it stands back") {
    NodeFixture node = leader();
    node.step(Stalled{});
    node.step(TaskEnded{epoch});
    node.run(node.timing().reservation());
    CHECK(node.view().why == "stands back after its own resignation");
}

}  // namespace bullring::protocol::why_test
