// The list of members, C1 to C8: what a voter, a candidate, a leader and a node without a file make
// of lists.
#include <doctest/doctest.h>

#include "protocol/values/dialling.hpp"
#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::members_test {
namespace {

using namespace test;
using What = MemberChange::What;

constexpr RequestId asked{Asker::observer, 7};

Config three(std::uint64_t self = 3) { return test::config_for(self, {1, 2, 3}); }

/// Node 2, which never stands.
Config witness() {
    Config config = three(2);
    config.priority = Priority::never();
    return config;
}

/// The members 1, 2 and 3, and 4 without a vote.
Membership with_4(Tag tag) {
    return *with(Membership(std::vector<NodeId>{{1}, {2}, {3}}), {What::add, {4}, "h:4"}, tag);
}

constexpr Identity settled_id{test::cluster_id, {1}, true};

/// As node 1 asks for its leadership, under that list.
Coordinator request(NodeFixture& node, Epoch epoch, bool renew, const Membership& list) {
    return {.epoch = epoch,
            .lease = renew ? node.timing().lease : node.timing().campaign_lease,
            .stamp = node.now(),
            .renew = renew,
            .tag = *list.tag(),
            .members = list,
            .identity = settled_id};
}

NodeFixture voter() {
    NodeFixture node(three());
    node.recover();
    node.connect(1);
    node.connect(2);
    return node;
}

Membership list_of(const NodeFixture& node) { return node.node().parts().list(); }

/// A leader of three that has been asked to change the list.
Actions ask(NodeFixture& node, const MemberChange& change) {
    return node.step(MembersRequested{change, asked});
}

}  // namespace

// ---- C3: the voter.

// C3.2, C1.2
TEST_CASE("members: a voter writes a newer list first, and grants when that is on its disk") {
    NodeFixture node(witness());
    node.recover();
    node.accept(1);
    node.dial(1);
    const Membership newer = with_4({{6000}, 0});
    Actions actions = node.hear(1, request(node, {6000}, true, newer));
    CHECK(sent<Grant>(actions).empty());
    CHECK(only_one<Persist>(actions).durable.members == newer);
    CHECK(list_of(node).tag() == Tag{});
    actions = node.persisted();
    CHECK(only<MembersChanged>(actions) ==
          std::vector<MembersChanged>{{newer, node.node().parts().cluster_id()}});
    CHECK(only<DealWith>(actions) == std::vector<DealWith>{{newer}});
    CHECK(sent_one<Grant>(actions).tag == *newer.tag());
}

// C3.1
TEST_CASE("members: a request under an older list is refused, with the newer one") {
    NodeFixture node(witness());
    node.disk_answers(true);
    node.recover();
    node.accept(1);
    node.dial(1);
    const Membership newer = with_4({{6000}, 0});
    node.hear(1, request(node, {6000}, true, newer));
    REQUIRE(list_of(node) == newer);
    node.hear(1, Resign{{6000}, nobody});
    const Membership founders = node.config().members;
    const Actions actions = node.hear(1, request(node, {6001}, false, founders));
    CHECK(sent_one<Nack>(actions).reason == NackReason::stale_members);
    CHECK(sent_one<Nack>(actions).members == newer);
}

// C3.1
TEST_CASE("members: while a newer list is being written no grant is given under the old one") {
    NodeFixture node(witness());
    node.recover();
    node.connect(1);
    node.connect(3);
    node.hear(1, request(node, {6000}, true, with_4({{6000}, 0})));
    const Actions actions = node.hear(3, request(node, {6001}, false, node.config().members));
    CHECK(sent<Grant>(actions).empty());
    CHECK(sent_one<Nack>(actions).reason == NackReason::stale_members);
}

// C3, R2.3
TEST_CASE("members: who has promised another holder is busy, and installs nothing") {
    NodeFixture node(witness());
    node.disk_answers(true);
    node.recover();
    node.connect(1);
    node.connect(3);
    node.hear(3, request(node, {5500}, true, node.config().members));
    REQUIRE(node.view().promised_to == NodeId{3});
    const Actions actions = node.hear(1, request(node, {6000}, false, with_4({{6000}, 0})));
    CHECK(sent_one<Nack>(actions).reason == NackReason::busy);
    CHECK(list_of(node).tag() == Tag{});
}

TEST_CASE("members: a newer tag without its list is answered with the voter's own") {
    NodeFixture node(witness());
    node.recover();
    node.connect(1);
    Coordinator without = request(node, {6000}, true, with_4({{6000}, 0}));
    without.members.reset();
    const Actions actions = node.hear(1, without);
    CHECK(sent_one<Nack>(actions).reason == NackReason::stale_members);
    CHECK(sent_one<Nack>(actions).members == node.config().members);
    node.persisted();
    CHECK(list_of(node) == node.config().members);
}

// ---- C4.1, C1.3: the candidate.

TEST_CASE("members: a candidate that is shown a newer list stands again under that one") {
    NodeFixture node(three());
    node.stand({1, 2});
    const Epoch first = node.last_request(1)->epoch;
    const Membership newer = with_4({{4000}, 1});
    Actions actions = node.hear(1, Nack{.holder_incarnation = node.own_incarnation(),
                                        .epoch = first,
                                        .reason = NackReason::stale_members,
                                        .promise_holder = {},
                                        .promised_epoch = {},
                                        .remaining = {},
                                        .members = newer,
                                        .identity = settled_id});
    CHECK(sent<Resign>(actions).size() == 2);
    CHECK(node.role() == Role::follower);
    actions = node.persisted();
    CHECK(list_of(node) == newer);
    CHECK(node.role() == Role::candidate);
    REQUIRE_FALSE(sent<Coordinator>(actions).empty());
    CHECK(sent<Coordinator>(actions)[0].tag == *newer.tag());
    CHECK(sent<Coordinator>(actions)[0].epoch > first);
}

// ---- C2, C5: the leader.

// C2.1, C2.2, C5.2
TEST_CASE("members: a leader restates its list first, and then changes it, and keeps its epoch") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    const Epoch epoch = node.view().epoch;
    Actions actions = ask(node, {What::add, {4}, "h:4"});
    CHECK(only<MembersAnswer>(actions).empty());
    REQUIRE(sent<Coordinator>(actions).size() == 2);
    CHECK(sent<Coordinator>(actions)[0].tag == Tag{epoch, 0});
    CHECK(sent<Coordinator>(actions)[0].members->ids() == std::vector<NodeId>{{1}, {2}, {3}});
    // The one that is not shown to have it gets the list, and one vote beside its own settles it.
    actions = node.answer_grant(1);
    test::append(actions, node.wake());
    CHECK(list_of(node).tag() == Tag{epoch, 0});
    test::append(actions, node.run_granted(node.timing().heartbeat * 3));
    CHECK(only<MembersAnswer>(actions) == std::vector<MembersAnswer>{{asked, true, {}}});
    CHECK(list_of(node).tag() == Tag{epoch, 1});
    CHECK(list_of(node).ids() == std::vector<NodeId>{{1}, {2}, {3}, {4}});
    CHECK(node.view().epoch == epoch);
    CHECK(only<Deposed>(actions).empty());
}

// C5.4
TEST_CASE("members: a list that nobody else has is not on the leader's disk") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    const Actions actions = ask(node, {What::add, {4}, "h:4"});
    CHECK(only<Persist>(actions).empty());
    node.after(node.timing().heartbeat);
    CHECK(list_of(node).tag() == Tag{});
}

// C2.5, C2.6
TEST_CASE("members: a change that is so already is done, and one that can't be is refused") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    bool lasting = false;
    const auto answer = [&](const MemberChange& change) {
        const MembersAnswer answers = only_one<MembersAnswer>(ask(node, change));
        lasting = answers.lasting;
        return answers.done ? "done" : answers.why;
    };
    CHECK(answer({What::promote, {1}, {}}) == "done");
    CHECK(answer({What::remove, {9}, {}}) == "done");
    CHECK(answer({What::promote, {9}, {}}) == "node 9 is not a member; it is added by member add");
    CHECK(lasting);
    node.lose(1);
    node.lose(2);
    CHECK(answer({What::demote, {2}, {}}) ==
          "no majority of the new voters would be connected: 1 of 2");
    CHECK_FALSE(lasting);
}

// C2.4
TEST_CASE("members: only one change at a time, and only at the leader") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    ask(node, {What::add, {4}, "h:4"});
    CHECK(only<MembersAnswer>(ask(node, {What::add, {5}, "h:5"})) ==
          std::vector<MembersAnswer>{
              {asked, false, "a change is under way; ask again when it is done"}});
    NodeFixture follower = voter();
    CHECK(only<MembersAnswer>(ask(follower, {What::add, {4}, "h:4"})) ==
          std::vector<MembersAnswer>{{asked, false, "node 3 does not lead"}});
}

// C2.3
TEST_CASE("members: what is not settled for two leases is undone, and the leader goes on leading") {
    NodeFixture node(test::config_for(2, {1, 2}));
    node.disk_answers(true);
    node.lead({1});
    Actions actions = ask(node, {What::demote, {1}, {}});
    test::append(actions, node.run_granted(node.timing().heartbeat * 4));
    REQUIRE(only<MembersAnswer>(actions) == std::vector<MembersAnswer>{{asked, true, {}}});
    REQUIRE(list_of(node).voters().size() == 1);
    // A vote for 1, which never answers a renewal under that list.
    actions = ask(node, {What::promote, {1}, {}});
    test::append(actions, node.run(node.timing().lease * 2 + node.timing().heartbeat * 2));
    CHECK_FALSE(only_one<MembersAnswer>(actions).done);
    CHECK(only<Deposed>(actions).empty());
    CHECK(list_of(node).voters().size() == 1);
    CHECK(node.role() == Role::leader);
}

// C1.1
TEST_CASE("members: a list that a peer has shown to have is not sent to it again") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    ask(node, {What::add, {4}, "h:4"});
    node.run_granted(node.timing().heartbeat * 4);
    REQUIRE(list_of(node).size() == 4);
    const std::vector<Coordinator> renewals = sent<Coordinator>(node.run(node.timing().heartbeat));
    REQUIRE(renewals.size() == 2);
    for (const Coordinator& renewal : renewals) {
        CHECK(renewal.tag == *list_of(node).tag());
        CHECK_FALSE(renewal.members.has_value());
    }
}

// C1.1, C1.5
TEST_CASE("members: a list that is new is sent to who has said to have one of its tag") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    const Epoch epoch = node.view().epoch;
    HelloReceived hello = node.hello_from(1);
    hello.hello.version_lowest = version_with_tags;
    hello.hello.changed = with_4({epoch, 0});
    node.step(hello);
    const Actions actions = ask(node, {What::add, {5}, "h:5"});
    for (const Coordinator& renewal : sent<Coordinator>(actions)) {
        CHECK(renewal.tag == Tag{epoch, 0});
        CHECK(renewal.members.has_value());
        CHECK(renewal.identity);
    }
}

// C6.1, C12.2
TEST_CASE("members: a leader restates its list for who refuses it with a newer one of an earlier") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.lead({1, 2});
    const Epoch epoch = node.view().epoch;
    REQUIRE(list_of(node).tag() == Tag{});
    node.hear(1, Nack{.holder_incarnation = node.own_incarnation(),
                      .epoch = epoch,
                      .reason = NackReason::stale_members,
                      .promise_holder = {},
                      .promised_epoch = {},
                      .remaining = {},
                      .members = with_4({{17}, 3})});
    node.run_granted(node.timing().heartbeat * 4);
    CHECK(list_of(node).tag() == Tag{epoch, 0});
    CHECK(list_of(node).ids() == std::vector<NodeId>{{1}, {2}, {3}});
}

// R2.5, C3.2
TEST_CASE("members: the list of a leadership that has ended is not taken from its late renewal") {
    NodeFixture node(witness());
    node.disk_answers(true);
    node.recover();
    node.connect(1);
    node.connect(3);
    const Membership before = list_of(node);
    REQUIRE(sent<Grant>(node.hear(1, request(node, {6000}, true, before))).size() == 1);
    REQUIRE(sent<Grant>(node.hear(1, request(node, {6001}, true, before))).size() == 1);
    Coordinator late = request(node, {6000}, true, with_4({{6000}, 1}));
    CHECK(sent_one<Nack>(node.hear(1, late)).reason == NackReason::stale);
    CHECK(list_of(node) == before);
    CHECK(sent<Grant>(node.hear(1, request(node, {6001}, true, before))).size() == 1);
}

// ---- C6.1, C7.1: on sight.

// C7.1
TEST_CASE("members: a node that is shown to be removed does not stand, and grants nothing") {
    NodeFixture node(three());
    node.disk_answers(true);
    node.recover();
    node.accept(1);
    const Membership without = *with(node.config().members, {What::remove, {3}, {}}, {{6000}, 1});
    const Actions actions = node.step(Dialled{{1}, {1500}, {}});
    REQUIRE(sent<Hello>(actions).size() == 1);
    node.step(Receive{{1500}, Refused{"member", "1,2", "3", without, test::cluster_id}});
    CHECK(list_of(node) == without);
    CHECK_FALSE(node.view().eligible);
    CHECK(node.view().why == "removed: not in the list of members 6000.1");
    const Hello hellos = sent_one<Hello>(node.step(Dialled{{1}, {1501}, {}}));
    CHECK(hellos.changed == without);
    CHECK(hellos.version_lowest == version_with_tags);
}

// C6.1
TEST_CASE("members: a list on sight waits until the promise to another is over") {
    NodeFixture node(witness());
    node.disk_answers(true);
    node.recover();
    node.connect(1);
    node.connect(3);
    node.hear(3, request(node, {5500}, true, node.config().members));
    HelloAck ack = node.ack_from(1);
    ack.changed = with_4({{6000}, 0});
    node.dial(1, ack);
    CHECK(list_of(node).tag() == Tag{});
    node.hear(3, Resign{{5500}, nobody});
    CHECK(list_of(node).tag() == Tag{{6000}, 0});
}

// C6.1
TEST_CASE("members: a node that is silent after its start takes no list on sight") {
    NodeFixture node(witness());
    node.disk_answers(true);
    node.accept(1);
    HelloAck ack = node.ack_from(1);
    ack.changed = with_4({{6000}, 0});
    node.dial(1, ack);
    REQUIRE(node.view().recovering);
    CHECK(list_of(node).tag() == Tag{});
    node.recover();
    CHECK(list_of(node).tag() == Tag{{6000}, 0});
}

// ---- C8: no file.

namespace {

/// A node that is not one of the founders, after its silence.
NodeFixture joiner() {
    Config config = test::config_for(4, {1, 2, 3, 4});
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    return node;
}

}  // namespace

// C8.2, C8.3
TEST_CASE("members: a node without a file takes its list from a renewal after its silence only") {
    NodeFixture node = joiner();
    const Membership list = with_4({{6000}, 1});
    HelloReceived hello = node.hello_from(1);
    hello.hello.changed = list;
    hello.hello.version_lowest = version_with_tags;
    node.step(hello);
    node.connect(1);
    node.hear(1, request(node, {6000}, true, list));
    CHECK(list_of(node).empty());
    const Actions over = node.after(node.timing().promise(node.timing().lease_max));
    CHECK_FALSE(only<CloseSession>(over).empty());
    node.connect(1);
    node.hear(1, request(node, {6001}, false, list));
    CHECK(list_of(node).empty());
    CHECK(node.view().recovering);
    node.hear(1, request(node, {6002}, true, list));
    CHECK(list_of(node) == list);
    CHECK_FALSE(node.view().recovering);
    // It votes in no epoch that may have been before.
    CHECK(node.node().parts().voter.promise().vmax() >= Epoch{6002});
}

// C8.4
TEST_CASE("members: a node without a file and without a vote is told its list at once") {
    NodeFixture node = joiner();
    node.wake();
    node.connect(1);
    const Membership list = with_4({{6000}, 1});
    const auto settled = [&](Epoch epoch, const Membership& told) {
        Coordinator renewal = request(node, epoch, true, told);
        renewal.settled = true;
        return renewal;
    };
    // It is on its way, and may be taken back.
    node.hear(1, request(node, {6000}, true, list));
    CHECK(list_of(node).empty());
    // Only in the epoch in which it was settled.
    node.hear(1, settled({6001}, list));
    CHECK(list_of(node).empty());
    // With a vote it may have granted something before.
    node.hear(1, settled({6001}, *with(list, {What::promote, {4}, {}}, {{6001}, 0})));
    CHECK(list_of(node).empty());
    // From a candidate it is worth nothing.
    Coordinator candidacy = settled({6002}, with_4({{6002}, 0}));
    candidacy.renew = false;
    node.hear(1, candidacy);
    CHECK(list_of(node).empty());
    CHECK(node.view().recovering);
    node.hear(1, settled({6002}, with_4({{6002}, 0})));
    CHECK(list_of(node) == with_4({{6002}, 0}));
    CHECK_FALSE(node.view().recovering);
    CHECK(node.node().parts().voter.promise().vmax() >= Epoch{6002});
}

// C8.4
TEST_CASE("members: a leader settles its list in its own epoch for a member that has none") {
    NodeFixture node(three());
    node.lead({1, 2});
    node.disk_answers(true);
    const Epoch epoch = node.view().epoch;
    ask(node, {What::add, {4}, "h:4"});
    node.run_granted(milliseconds(200));
    REQUIRE(node.node().parts().holder.base().tag() == Tag{epoch, 1});
    CHECK(node.last_request(1)->settled);
    CHECK(node.last_request(1)->tag == Tag{epoch, 1});
}

TEST_CASE("members: a node without a file does not take a list that does not have it") {
    NodeFixture node = joiner();
    node.wake();
    node.after(node.timing().promise(node.timing().lease_max));
    node.connect(1);
    const Membership others =
        *with(Membership(std::vector<NodeId>{{1}, {2}, {3}}), {What::add, {5}, "h:5"}, {{6000}, 1});
    node.hear(1, request(node, {6000}, true, others));
    CHECK(list_of(node).empty());
    CHECK(node.view().recovering);
}

// C8.1, C8.6
TEST_CASE(
    "members: a list of one waits before it founds, and does not beside a list that was shown") {
    const Config config = test::config_for(1, {1});
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    CHECK(node.view().recovering);
    SUBCASE("nobody dials in") {
        node.after(first_call_max(config.timing));
        CHECK(node.role() == Role::leader);
    }
    SUBCASE("a member of a cluster that has grown does") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.version_lowest = version_with_tags;
        hello.hello.changed = *with(config.members, {What::add, {2}, "h:2"}, {{6000}, 1});
        node.step(hello);
        node.after(seconds(60));
        CHECK(node.view().recovering);
    }
}

// ---- The values.

TEST_CASE("members: a new member gets the next slot after the highest, and then the free ones") {
    Membership list(std::vector<NodeId>{{1}, {2}, {3}});
    list = *with(list, {What::add, {9}, "h:9"}, {{1}, 1});
    CHECK(list.index({9}) == Index{3});
    CHECK_FALSE(list.find({9})->votes);
    list = *with(list, {What::remove, {2}, {}}, {{1}, 2});
    list = *with(list, {What::add, {7}, "h:7"}, {{1}, 3});
    CHECK(list.index({7}) == Index{4});
    for (std::uint64_t id = 100; list.places() < members_max; ++id)
        list = *with(list, {What::add, {id}, {}}, {{1}, 4});
    list = *with(list, {What::add, {8}, "h:8"}, {{1}, 5});
    CHECK(list.index({8}) == Index{1});
    CHECK(list.size() == members_max);
    CHECK_FALSE(with(list, {What::add, {6}, "h:6"}, {{1}, 6}).has_value());
}

}  // namespace bullring::protocol::members_test
