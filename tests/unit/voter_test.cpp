// The voter at a whole node (R2, R4, R5): grants, the park slot, the disk, reservations, releases.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::voter_test {
namespace {

using namespace test;

Config voter_config() {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();  // it only votes
    return config;
}

NodeFixture voter(const Config& config = voter_config()) {
    NodeFixture node(config);
    node.recover();
    node.connect(2);
    node.connect(3);
    return node;
}

Action grant_to(NodeFixture& node, std::uint64_t peer, const Coordinator& asked) {
    return Send{node.dialled(peer),
                Grant{node.incarnation_of(peer), asked.epoch, asked.lease, asked.stamp,
                      asked.tie ? SessionId{7000} : no_session, node.own_incarnation()}};
}

TEST_CASE("voter: a candidacy is granted with its own stamp and tells users of no leader") {
    NodeFixture node = voter();
    const Coordinator asked = node.candidacy(5001);
    node.pass(milliseconds(3));
    CHECK(without_heartbeats(node.hear(3, asked)) == Actions{grant_to(node, 3, asked)});
    CHECK(node.view().leader == nobody);
    CHECK(node.view().promised_to == NodeId{3});
}

TEST_CASE("voter: a renewal is granted and its holder is the leader towards users") {
    NodeFixture node = voter();
    const Coordinator asked = node.renewal(5001);
    CHECK(without_heartbeats(node.hear(3, asked)) ==
          Actions{grant_to(node, 3, asked), LeaderChanged{{3}, {5001}, "app-3"}});
}

// R2.2c
TEST_CASE("voter: what its sender has resigned is not granted, whenever the request is read") {
    for (const bool renew : {false, true}) {
        NodeFixture node = voter();
        const SessionId older = node.accepted(3);
        node.accept(3);
        // Not promised here, so that there is nothing to release.
        node.hear(3, Resign{{5004}, nobody});
        for (const std::uint64_t epoch : {5003U, 5004U}) {
            Coordinator late = node.candidacy(epoch);
            late.renew = renew;
            const Actions actions = node.step(Receive{older, late});
            CHECK(sent<Grant>(actions).empty());
            const Nack nacks = sent_one<Nack>(actions);
            CHECK(nacks.reason == NackReason::stale);
            CHECK(nacks.promised_epoch == Epoch{5004});
        }
        CHECK(node.view().promised_to == nobody);
        CHECK(sent<Grant>(node.hear(3, node.candidacy(5005))).size() == 1);
    }
}

// R2.2c
TEST_CASE("voter: a resignation binds its own run only") {
    NodeFixture node = voter();
    node.hear(3, Resign{{5004}, nobody});
    CHECK(sent<Grant>(node.hear(2, node.renewal(5003))).size() == 1);
    node.hear(2, Resign{{5003}, nobody});
    node.lose(3);
    node.new_incarnation(3);
    node.connect(3);
    CHECK(sent<Grant>(node.hear(3, node.renewal(5004))).size() == 1);
}

// R2.2a
TEST_CASE("voter: a run that does not answer at its member's address may renew, but not stand") {
    for (const bool renew : {false, true}) {
        NodeFixture node(voter_config());
        node.recover();
        node.accept(3);
        HelloAck another = node.ack_from(3);
        another.incarnation = {12345};
        node.dial(3, another);
        const Actions actions = node.hear(3, renew ? node.renewal(5001) : node.candidacy(5001));
        CHECK(sent<Grant>(actions).size() == (renew ? 1 : 0));
        const std::vector<Nack> nacks = sent<Nack>(actions);
        REQUIRE(nacks.size() == (renew ? 0 : 1));
        if (!renew) CHECK(nacks[0].reason == NackReason::unknown_holder);
    }
}

// R2.7
TEST_CASE("voter: the promise lasts P(x) from when it was given, not from the stamp") {
    NodeFixture node = voter();
    const Coordinator asked = node.candidacy(5001);
    node.pass(milliseconds(40));
    node.hear(3, asked);
    node.after(node.timing().promise(asked.lease) - Duration{1});
    CHECK(node.view().promised_to == NodeId{3});
    node.after(Duration{1});
    CHECK(node.view().promised_to == nobody);
}

// ---- The disk.

// R2.6, R2.7
TEST_CASE("voter: an epoch beyond hw is granted, and its promise counted, only after the write") {
    NodeFixture node = voter();
    const Coordinator asked = node.candidacy(7000);
    const Actions first = without_heartbeats(node.hear(3, asked));
    CHECK(sent<Grant>(first).empty());
    CHECK(only_one<Persist>(first).durable.hw.value >= 7000);
    CHECK(node.view().promised_to == nobody);
    node.pass(milliseconds(30));
    CHECK(without_heartbeats(node.persisted()) == Actions{grant_to(node, 3, asked)});
    node.after(node.timing().promise(asked.lease) - Duration{1});
    CHECK(node.view().promised_to == NodeId{3});
}

// R2.6
TEST_CASE("voter: after the write the request is judged again from the start") {
    NodeFixture node = voter();
    node.hear(3, node.candidacy(7000));
    CHECK(sent<Grant>(node.hear(2, node.candidacy(5001))).size() == 1);
    const Nack nacks = sent_one<Nack>(node.persisted());
    CHECK(nacks.reason == NackReason::busy);
    CHECK(nacks.promise_holder == NodeId{2});
}

TEST_CASE("voter: a request that was resigned while it waited for the disk is not granted") {
    NodeFixture node = voter();
    node.hear(3, node.candidacy(7000));
    SUBCASE("on the same session") { node.hear(3, Resign{{7000}, nobody}); }
    SUBCASE("on a newer session of the same run") {
        node.accept(3);
        node.hear(3, Resign{{7000}, nobody});
    }
    CHECK(sent<Grant>(node.persisted()).empty());
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("voter: a request whose session ends while it waits for the disk is not granted") {
    NodeFixture node = voter();
    node.hear(3, node.candidacy(7000));
    node.lose(3, SessionEnd::reset);
    CHECK(sent<Grant>(node.persisted()).empty());
    CHECK(node.view().promised_to == nobody);
}

// ---- Reservations.

// R2.4
TEST_CASE("voter: a successor that was named is granted at once and others only after T_res") {
    NodeFixture node = voter();
    node.hear(3, node.renewal(5001));
    node.hear(3, Resign{{5001}, {2}});
    const Actions other = node.hear(3, node.candidacy(5002));
    CHECK(sent_one<Nack>(other).reason == NackReason::reserved);
    CHECK(sent_one<Nack>(other).remaining == node.timing().reservation());
    NodeFixture later = node;
    CHECK(sent<Grant>(node.hear(2, node.candidacy(5003))).size() == 1);
    later.pass(later.timing().reservation());
    CHECK(sent<Grant>(later.hear(3, later.candidacy(5004))).size() == 1);
}

// R5.10
TEST_CASE("voter: a RESIGN that does not match the promise reserves nothing and releases nothing") {
    NodeFixture node = voter();
    node.hear(3, node.renewal(5002));
    node.hear(3, Resign{{5001}, {2}});  // an older epoch of the holder
    CHECK(node.view().promised_to == NodeId{3});
    node.hear(2, Resign{{5002}, {2}});  // another node's
    CHECK(node.view().promised_to == NodeId{3});
    node.hear(3, Resign{{5002}, nobody});
    CHECK(node.view().promised_to == nobody);
    CHECK(sent<Grant>(node.hear(3, node.candidacy(5003))).size() == 1);
}

// R5.10
TEST_CASE("voter: RESIGN of another run of the same id releases nothing") {
    NodeFixture node = voter();
    node.hear(3, node.renewal(5001));
    node.lose(3, SessionEnd::reset);
    node.new_incarnation(3);
    node.connect(3);
    node.hear(3, Resign{{5001}, nobody});
    CHECK(node.view().promised_to == NodeId{3});
}

}  // namespace
}  // namespace bullring::protocol::voter_test
