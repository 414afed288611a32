// C11: the cluster's id, by which two clusters of one name and the same founders are told apart.
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "tests/support/identity_fixture.hpp"

namespace bullring::protocol::identity_test {
namespace {

using namespace test;

/// Node 3 leads with the grants of 1 and 2, and nobody knows an id.
struct Leader {
    NodeFixture node{member(), without_id(member())};
    std::map<std::uint64_t, Identity> has;  // on the disks of its peers

    Leader() {
        node.peers_know({});
        node.disk_answers(true);
        node.lead({1, 2});
    }
    /// A renewal, which these grant; they write down what it has given them.
    void renew(const std::vector<std::uint64_t>& peers) {
        Actions actions = node.after(node.timing().heartbeat);
        for (const std::uint64_t peer : peers) {
            Grant grant = node.grant_from(peer);
            const auto given = node.last_request(peer)->identity;
            if (given) grant.identity = has[peer];
            if (given && given->id && !has[peer].settled) has[peer] = *given;
            node.hear(peer, grant);
        }
    }
    Identity given(std::uint64_t peer) const {
        return node.last_request(peer)->identity.value_or(Identity{});
    }
};

}  // namespace

TEST_CASE(
    "identity: a leader asks first, then gives an id, and settles it when a majority has it") {
    Leader leader;
    CHECK(leader.given(1) == Identity{});
    CHECK(leader.node.last_request(1)->identity.has_value());
    // C11.1: 1 alone, beside the leader, would be a majority, but 2 is connected, too.
    leader.renew({1});
    leader.renew({1});
    CHECK_FALSE(leader.given(1).id);
    leader.renew({1, 2});
    leader.renew({1, 2});
    const Identity first = leader.given(1);
    CHECK(first.id);
    CHECK_FALSE(first.settled);
    CHECK(first.epoch == leader.node.view().epoch);
    // C11.3: once it is on the disk of 1.
    leader.renew({1});
    leader.renew({1});
    CHECK(leader.given(2) == Identity{first.id, first.epoch, true});
}

TEST_CASE("identity: a leader gives the id of the newest leader that has given one") {
    Leader leader;
    leader.has[1] = {{7}, {10}, false};
    leader.has[2] = {{8}, {11}, false};
    leader.renew({1, 2});
    leader.renew({1, 2});
    CHECK(leader.given(1).id == ClusterId{8});
    CHECK(leader.given(1).epoch == leader.node.view().epoch);
}

TEST_CASE("identity: an id that who lost its disk has from others goes before any given one") {
    Leader leader;
    leader.has[1] = {{7}, {}, false};
    SUBCASE("the other one has none") {}
    SUBCASE("the other one was given one by a leader that is no more") {
        leader.has[2] = {{8}, {11}, false};
    }
    leader.renew({1, 2});
    leader.renew({1, 2});
    CHECK(leader.given(1).id == ClusterId{7});
}

TEST_CASE("identity: a settled id is given at once, and to nobody who is known to have it") {
    Leader leader;
    leader.has[2] = {{8}, {11}, true};
    leader.has[1] = {{9}, {12}, false};
    leader.renew({2});
    leader.renew({1, 2});
    CHECK(leader.given(1) == Identity{{8}, leader.node.view().epoch, true});
    CHECK_FALSE(leader.node.last_request(2)->identity.has_value());
}

// C11.8
TEST_CASE("identity: no list is changed before a majority has the id") {
    Leader leader;
    const RequestId asked{Asker::observer, 1};
    leader.node.step(MembersRequested{{MemberChange::What::add, {4}, "h:4"}, asked});
    leader.renew({1, 2});
    CHECK(leader.node.last_request(1)->tag == Tag{});
    for (int i = 0; i < 5; ++i) leader.renew({1, 2});
    CHECK(leader.node.last_request(1)->tag != Tag{});
}

TEST_CASE("identity: a leader whose voters speak an earlier version gives none") {
    Config config = member();
    config.wire_highest = version_with_tags;
    NodeFixture node(config, without_id(config));
    node.disk_answers(true);
    node.lead({1, 2});
    for (int i = 0; i < 5; ++i) node.run_granted(node.timing().heartbeat);
    CHECK_FALSE(node.last_request(1)->identity.has_value());
}

TEST_CASE("identity: a node takes what its leader gives, and answers with what is on its disk") {
    const Config config = member();
    NodeFixture node = follower(without_id(config), {});
    const auto told = [&](const std::optional<Identity>& identity) {
        const auto grants = sent<Grant>(node.hear(1, renewal(node, {6000}, identity)));
        REQUIRE(grants.size() == 1);
        return grants[0].identity;
    };
    CHECK(told(std::nullopt) == std::nullopt);
    CHECK(told(Identity{}) == Identity{});
    const Identity first{{7}, {6000}, false};
    told(first);
    CHECK(told(Identity{}) == first);
    // C11.2: nothing of an older leader.
    told(Identity{{8}, {5999}, false});
    CHECK(told(Identity{}) == first);
    const Identity settled{{9}, {6000}, true};
    // R9: one message alone binds it to nothing.
    told(settled);
    CHECK(told(Identity{}) == Identity{settled.id, settled.epoch, false});
    told(settled);
    CHECK(told(Identity{}) == settled);
    told(Identity{{10}, {7000}, false});
    CHECK(told(Identity{}) == settled);
}

TEST_CASE("identity: what a leader gives whose renewal is not granted is not taken") {
    const Config config = member();
    NodeFixture node = follower(without_id(config), {});
    node.hear(1, renewal(node, {6000}, std::nullopt));
    const auto nacks = sent<Nack>(node.hear(2, renewal(node, {6001}, Identity{{7}, {6001}, true})));
    REQUIRE(nacks.size() == 1);
    CHECK(node.view().cluster_id == ClusterId{});
}

TEST_CASE("identity: two that know different ids refuse each other") {
    NodeFixture node = follower(test::start_with_file(member()), test::cluster_id);
    SUBCASE("a HELLO") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.incarnation = {77};
        hello.hello.cluster_id = other_id;
        const auto refused = sent<Refused>(node.step(hello));
        REQUIRE(refused.size() == 1);
        CHECK(refused[0].field == "cluster id");
        CHECK(refused[0].mine == "00000000000000c1");
        CHECK(refused[0].yours == "0000000000000bad");
    }
    SUBCASE("a HELLO of one that does not know it yet is taken") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.cluster_id = {};
        CHECK(sent<HelloAck>(node.step(hello)).size() == 1);
    }
    SUBCASE("a HELLO_ACK") {
        HelloAck ack = node.ack_from(2);
        ack.cluster_id = other_id;
        const Actions actions = node.dial(2, ack);
        CHECK(only_one<HandshakeRefused>(actions).difference.field == "cluster id");
        CHECK(only<CloseSession>(actions).size() == 1);
    }
}

// C11.9
TEST_CASE("identity: who learns its id parts with those that have shown another one") {
    const Config config = member();
    NodeFixture node = follower(without_id(config), other_id);
    node.peers_know(test::cluster_id);
    node.new_incarnation(1);
    node.lose(1);
    node.connect(1);
    const Identity told{test::cluster_id, {6000}, true};
    CHECK(only<CloseSession>(node.hear(1, renewal(node, {6000}, told))).empty());
    const Actions actions = node.hear(1, renewal(node, {6000}, told));
    CHECK(node.view().cluster_id == test::cluster_id);
    std::set<std::uint64_t> closed;
    for (const CloseSession& close : only<CloseSession>(actions))
        closed.insert(close.session.value);
    CHECK(closed == std::set<std::uint64_t>{node.accepted(2).value, node.dialled(2).value});
}

TEST_CASE("identity: a renewal that tells of another id is granted nothing") {
    NodeFixture node = follower(test::start_with_file(member()), {});
    const Actions actions = node.hear(1, renewal(node, {6000}, Identity{other_id, {6000}, true}));
    CHECK(sent<Grant>(actions).empty());
    CHECK_FALSE(only<CloseSession>(actions).empty());
}

TEST_CASE("identity: a grant of one that has another id is not counted") {
    Leader leader;
    leader.has[1] = {{8}, {11}, true};
    leader.has[2] = {{9}, {11}, true};
    leader.renew({1, 2});
    CHECK(leader.node.view().cluster_id == ClusterId{8});
    CHECK(leader.node.role() == Role::leader);
    for (int i = 0; i < 40; ++i) leader.renew({2});
    CHECK(leader.node.role() != Role::leader);
}

// C11.5
TEST_CASE("identity: a node without a file goes on with those of one cluster only") {
    Config config = member();
    config.priority = Priority::never();
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    HelloAck first = node.ack_from(1);
    HelloAck second = node.ack_from(2);
    SUBCASE("they know different ones") { second.cluster_id = other_id; }
    SUBCASE("one does not know it") { second.cluster_id = {}; }
    const auto answer = [&] {
        node.dial(1, first);
        node.dial(2, second);
    };
    answer();
    node.after(config.timing.promise(config.timing.lease));
    answer();  // it asks again (R6.12)
    node.wake();
    const bool alike = second.cluster_id != other_id;
    CHECK(node.node().parts().recovering() != alike);
    if (!alike) return;
    node.connect(1);
    const auto grants = sent<Grant>(node.hear(1, renewal(node, {6'000'000}, Identity{})));
    REQUIRE(grants.size() == 1);
    CHECK(grants[0].identity->id == test::cluster_id);
}

// C11.4
TEST_CASE("identity: a token of another cluster's node is granted nothing, whoever passes it on") {
    Config config = test::config_for(3, {1, 2, 3}, Algorithm::ring);
    config.priority = Priority::never();
    NodeFixture node(config, without_id(config));
    node.peers_know(other_id);
    node.disk_answers(true);
    node.recover();
    node.connect(2);
    node.peers_know(test::cluster_id);
    node.connect(1);
    for (int i = 0; i < 3; ++i)
        node.hear(1, renewal(node, {6000}, Identity{test::cluster_id, {6000}, true}));
    REQUIRE(node.view().cluster_id == test::cluster_id);
    node.hear(1, Resign{{6000}, nobody});
    CoordinatorToken token;
    token.walk = node.walk_from(2, {1, 0});
    token.request.epoch = {7000};
    token.request.lease = node.timing().campaign_lease;
    token.request.stamp = node.now();
    node.hear(1, token);
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("identity: who has only said HELLO binds no leader to his id") {
    NodeFixture node(member(), without_id(member()));
    node.disk_answers(true);
    node.peers_know({});
    node.recover();
    node.connect(2);
    // Another cluster's node 1, which was given a mistaken address. Nobody dials it.
    node.peers_know(other_id);
    REQUIRE(sent<Refused>(node.accept(1)).empty());
    node.lose(1);
    node.peers_know({});
    for (int i = 0; i < 60 && node.role() == Role::follower; ++i) node.run(node.timing().heartbeat);
    node.answer_grant(2);
    REQUIRE(node.role() == Role::leader);
    for (int i = 0; i < 5; ++i) renew_by_who_has_the_id(node, 2);
    CHECK(node.node().parts().identity().known() == test::cluster_id);
}

TEST_CASE("identity: nor one that greets in the name of a voter whose grant is held") {
    NodeFixture node(member(), without_id(member()));
    node.peers_know({});
    node.disk_answers(true);
    node.lead({1, 2});
    REQUIRE(node.role() == Role::leader);
    node.lose(1, SessionEnd::reset);
    node.new_incarnation(1);
    node.peers_know(other_id);
    REQUIRE(sent<Refused>(node.accept(1)).empty());
    node.wake();
    CHECK_FALSE(node.node().parts().identity().known());
    renew_by_who_has_the_id(node, 2);
    CHECK(node.node().parts().identity().known() == test::cluster_id);
}

TEST_CASE("identity: a voter that grants nothing keeps the cluster from an id for a while only") {
    NodeFixture node(member(), without_id(member()));
    node.peers_know({});
    node.disk_answers(true);
    node.lead({2, 1});
    REQUIRE(node.role() == Role::leader);
    const auto renewed = [&] {
        node.after(node.timing().heartbeat);
        Grant grant = node.grant_from(2);
        grant.identity = node.last_request(2)->identity;
        node.hear(2, grant);
        node.hear(1, Nack{.holder_incarnation = node.own_incarnation(),
                          .epoch = node.view().epoch,
                          .reason = NackReason::lease_too_long,
                          .promise_holder = {},
                          .promised_epoch = {},
                          .remaining = {}});
        node.hear_heartbeat(1);
        node.hear_heartbeat(2);
        return node.node().parts().identity().known();
    };
    const Duration longest = node.timing().promise(node.timing().lease_max);
    for (Duration passed{0}; passed < longest - node.timing().heartbeat * 2;
         passed = passed + node.timing().heartbeat)
        REQUIRE_FALSE(renewed());
    for (int i = 0; i < 8; ++i) renewed();
    CHECK(renewed());
}

TEST_CASE("identity: who has lost its disk goes on with the id that others were given") {
    Config config = test::config_for(2, {1, 2, 3, 4, 5});
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.peers_know({});
    node.wake();
    std::map<std::uint64_t, Identity> has{{4, {{7}, {4}, false}}, {5, {{8}, {5}, false}}};
    Identity expected = has[5];
    SUBCASE("by the newest leader") {}
    SUBCASE("or by none, to one that had lost its disk before") {
        expected = has[4] = {{7}, {}, false};
    }
    SUBCASE("or by none, and nobody else has one") { has = {{4, expected = {{7}, {}, false}}}; }
    const auto ack_from = [&](std::uint64_t peer) {
        HelloAck ack = node.ack_from(peer);
        ack.max_seen = {9};
        const auto found = has.find(peer);
        if (found != has.end()) ack.identity = found->second;
        return ack;
    };
    for (const std::uint64_t peer : {3U, 4U, 5U}) {
        node.accept(peer);
        node.dial(peer, ack_from(peer));
    }
    for (int i = 0; i < 4000 && node.node().parts().recovering(); ++i) {
        const Actions actions = node.after(milliseconds(50));
        for (const std::uint64_t peer : {3U, 4U, 5U}) node.hear_heartbeat(peer);
        for (const DialNow& dial : only<DialNow>(actions))
            node.dial(dial.peer.value, ack_from(dial.peer.value));
    }
    CHECK_FALSE(node.node().parts().recovering());
    CHECK(node.node().parts().identity() == expected);
}

TEST_CASE("identity: who has one given names it to who has lost its disk, and to nobody else") {
    Start start = test::start_with_file(member());
    start.file->identity = {test::cluster_id, {4900}, false};
    NodeFixture node(member(), start);
    node.disk_answers(true);
    node.peers_know({});
    node.recover();
    HelloReceived hello = node.hello_from(2);
    hello.hello.recovering = true;
    hello.hello.had_file_at_start = false;
    SUBCASE("without a file") {}
    SUBCASE("with a file") { hello.hello.had_file_at_start = true; }
    const auto acks = sent<HelloAck>(node.accept(hello));
    REQUIRE(acks.size() == 1);
    CHECK_FALSE(acks[0].cluster_id);
    CHECK(acks[0].identity.has_value() == !hello.hello.had_file_at_start);
    if (acks[0].identity) CHECK(acks[0].identity->id == test::cluster_id);
}

}  // namespace bullring::protocol::identity_test
