// C12: whose word is believed.
#include <doctest/doctest.h>

#include "protocol/membership/identity_poll.hpp"
#include "tests/support/identity_fixture.hpp"

namespace bullring::protocol::believing_test {
namespace {

using namespace test;

Identity named(ClusterId id, bool settled = true) { return {id, {1}, settled}; }

/// Node 3, with that identity of its cluster on its disk.
Start knowing(const Identity& identity) {
    Start start = test::start_with_file(member());
    start.file->identity = identity;
    return start;
}

/// Node 1 stands under the changed list.
Coordinator candidacy_under_list(NodeFixture& node, const std::optional<Identity>& identity) {
    Coordinator request = renewal(node, {9001}, identity);
    request.renew = false;
    request.lease = node.timing().campaign_lease;
    request.tag = *changed_list().tag();
    request.members = changed_list();
    return request;
}

}  // namespace

// C12.1
TEST_CASE("believing: the list of who is of another cluster is not believed") {
    NodeFixture node = follower(test::start_with_file(member()), test::cluster_id);
    HelloReceived hello = hello_with_list(node, 1);
    hello.hello.incarnation = {77};
    SUBCASE("of another name") { hello.hello.cluster = "neighbours"; }
    SUBCASE("with another id") { hello.hello.cluster_id = other_id; }
    SUBCASE("with another algorithm") { hello.hello.algorithm = Algorithm::ring; }
    SUBCASE("with another quorum") { hello.hello.quorum = QuorumMode::none; }
    SUBCASE("with other rates of clocks") { hello.hello.rho_ppm = 1; }
    REQUIRE(sent<Refused>(node.step(hello)).size() == 1);
    node.after(seconds(1));
    CHECK_FALSE(knows_the_list(node));
    CHECK(node.node().parts().max_seen < Epoch{9000});
}

TEST_CASE("believing: a node that founds is not kept from it by another cluster's list") {
    Config config = member();
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    HelloReceived hello = hello_with_list(node, 1);
    hello.hello.cluster = "neighbours";
    REQUIRE(sent<Refused>(node.step(hello)).size() == 1);
    for (const std::uint64_t peer : {1U, 2U}) {
        HelloAck ack = node.ack_from(peer);
        ack.had_file_at_start = false;
        ack.recall.answer = Recall::Answer::none;
        ack.cluster_id = {};
        node.dial(peer, ack);
    }
    CHECK_FALSE(node.node().parts().recovering());
}

// C12.4
TEST_CASE("believing: the list in a refusal counts where the list is why") {
    NodeFixture node = follower(test::start_with_file(member()), test::cluster_id);
    const auto refused_for = [&](const char* field, ClusterId id) {
        node.step(Dialled{{2}, {9001}, {}});
        node.step(Receive{{9001}, Refused{field, "a", "b", changed_list(), id}});
        node.after(seconds(1));
        return knows_the_list(node);
    };
    CHECK_FALSE(refused_for("cluster", {}));
    CHECK_FALSE(refused_for("algorithm", {}));
    CHECK_FALSE(refused_for("member", other_id));
    CHECK(refused_for("member", test::cluster_id));
}

TEST_CASE("believing: a node of another cluster says nothing of processes with this node's id") {
    NodeFixture node = follower(test::start_with_file(member()), test::cluster_id);
    node.step(Dialled{{2}, {9001}, {}});
    Refused refused = twin_refusal({3});
    refused.cluster_id = other_id;
    node.step(Receive{{9001}, refused});
    CHECK(node.view().votes);
}

// C12.2
TEST_CASE("believing: on sight the list of who knows the same id, or as little, counts alone") {
    const auto takes = [](ClusterId known, ClusterId said) {
        const Start start = known ? test::start_with_file(member()) : without_id(member());
        NodeFixture node = follower(start, known);
        HelloReceived hello = hello_with_list(node, 1);
        hello.hello.cluster_id = said;
        node.step(hello);
        node.after(seconds(1));
        return knows_the_list(node);
    };
    CHECK(takes(test::cluster_id, test::cluster_id));
    CHECK(takes({}, {}));
    CHECK_FALSE(takes({}, other_id));
    CHECK_FALSE(takes(test::cluster_id, {}));
}

// C12.5
TEST_CASE(
    "believing: what was shown before a node knew its id is forgotten, and its leader tells") {
    NodeFixture node = follower(without_id(member()), {});
    const auto renewed = [&](Epoch epoch, const Membership& list) {
        Coordinator request = renewal(node, epoch, Identity{test::cluster_id, epoch, true});
        request.tag = *list.tag();
        if (list.changed()) request.members = list;
        node.hear(1, request);
    };
    const Membership founders(std::vector<NodeId>{{1}, {2}, {3}});
    node.hear(1, renewal(node, {6000}, Identity{}));  // bound, it installs nothing on sight
    node.step(hello_with_list(node, 2));
    for (int i = 0; i < 3; ++i) renewed({6000}, founders);
    REQUIRE(node.view().cluster_id == test::cluster_id);
    node.after(seconds(3));
    CHECK_FALSE(knows_the_list(node));
    renewed({9500}, changed_list());
    CHECK(node.view().list == changed_list());
}

// C12.2, C3.2
TEST_CASE("believing: a request's list is taken of who names a cluster, if this node knows one") {
    const auto takes = [](const Identity& has, const std::optional<Identity>& said) {
        NodeFixture node = follower(knowing(has), has.known());
        const Actions actions = node.hear(1, candidacy_under_list(node, said));
        if (!knows_the_list(node)) {
            const auto nacks = sent<Nack>(actions);
            CHECK(nacks.size() == 1);
            CHECK(nacks.at(0).reason == NackReason::unknown_holder);
        }
        return knows_the_list(node);
    };
    const Identity settled = named(test::cluster_id);
    const Identity given = named(test::cluster_id, false);
    CHECK(takes(settled, settled));
    CHECK(takes(settled, given));
    CHECK_FALSE(takes(settled, Identity{}));
    CHECK_FALSE(takes(settled, named(other_id, false)));
    // The next leader may give another one than the last.
    CHECK(takes(given, named(other_id, false)));
    CHECK_FALSE(takes(given, Identity{}));
    CHECK(takes({}, settled));
    CHECK(takes({}, Identity{}));
}

// C12.2
TEST_CASE("believing: with a list comes the id of its cluster, as one that is given") {
    NodeFixture node = follower(knowing({}), {});
    node.hear(1, candidacy_under_list(node, named(test::cluster_id)));
    REQUIRE(knows_the_list(node));
    CHECK(node.node().parts().identity() == named(test::cluster_id, false));
}

// C12.2
TEST_CASE("believing: a list of no cluster is told of once in each run of who has it") {
    NodeFixture node = follower(knowing(named(test::cluster_id)), test::cluster_id);
    Actions all;
    for (int i = 0; i < 3; ++i) {
        const Actions actions = node.hear(1, candidacy_under_list(node, Identity{}));
        all.insert(all.end(), actions.begin(), actions.end());
    }
    const auto notes = only<Note>(all);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].level == Note::Level::warning);
    CHECK(notes[0].peer == NodeId{1});
    CHECK(notes[0].text.find("9000.1") != std::string::npos);
}

// C12.2, C4.1
TEST_CASE("believing: an answer's list counts if it was asked for, and names the cluster") {
    NodeFixture node(member(), knowing(named(test::cluster_id)));
    node.stand({1, 2});
    Nack nack;
    nack.holder_incarnation = node.own_incarnation();
    nack.epoch = node.last_request(1)->epoch;
    nack.reason = NackReason::stale_members;
    nack.members = changed_list();
    nack.remaining = node.timing().campaign_wait;
    SUBCASE("it has asked nobody") {
        nack.identity = named(test::cluster_id);
        nack.epoch = {nack.epoch.value + 1};
        node.hear(1, nack);
        node.after(seconds(1));
        CHECK_FALSE(knows_the_list(node));
    }
    SUBCASE("of no cluster: it is one that refuses, and another one is enough") {
        node.hear(1, nack);
        CHECK(node.role() == Role::candidate);
        Grant grant;
        grant.holder_incarnation = node.own_incarnation();
        grant.epoch = nack.epoch;
        grant.lease = node.timing().campaign_lease;
        grant.stamp = node.last_request(2)->stamp;
        grant.voter_incarnation = node.incarnation_of(2);
        node.hear(2, grant);
        CHECK(node.role() == Role::leader);
        CHECK_FALSE(knows_the_list(node));
    }
    SUBCASE("of no cluster, and so are all: it waits before it asks again") {
        node.hear(1, nack);
        const Actions actions = node.hear(2, nack);
        CHECK(node.role() == Role::follower);
        CHECK(sent<Coordinator>(actions).empty());
    }
}

// C1.5
TEST_CASE("believing: no cluster has two lists of one tag") {
    const Membership founders(std::vector<NodeId>{{1}, {2}, {3}});
    const Membership of_others =
        *with(founders, {MemberChange::What::demote, {2}, {}}, *changed_list().tag());
    Start start = knowing({});
    start.file->members = of_others;
    NodeFixture node = follower(start, {});
    SUBCASE("in a HELLO") {
        const auto refused = sent<Refused>(node.step(hello_with_list(node, 1)));
        REQUIRE(refused.size() == 1);
        CHECK(refused[0].field == "members");
        CHECK(refused[0].mine == "1,2,3 since 9000.1");
        CHECK(refused[0].yours == "1,2,3,4 since 9000.1");
        CHECK_FALSE(refused[0].list);
    }
    SUBCASE("in a request") {
        const auto nacks =
            sent<Nack>(node.hear(1, candidacy_under_list(node, named(test::cluster_id))));
        REQUIRE(nacks.size() == 1);
        CHECK(nacks[0].reason == NackReason::unknown_holder);
    }
    CHECK(node.view().list == of_others);
}

namespace {

const std::vector<NodeId> one_to_three{{1}, {2}, {3}};

Membership with_7(Tag tag) {
    return *with(Membership(one_to_three), {MemberChange::What::add, {7}, "x:7"}, tag);
}

/// Of the three `voter` alone has a vote.
Membership alone(NodeId voter) {
    std::vector<MemberEntry> entries;
    for (const NodeId id : one_to_three)
        entries.push_back({id, static_cast<Index>(entries.size()), id == voter, "h:1"});
    return {{{4001}, 2}, std::move(entries), one_to_three};
}

/// It leads, and its own disk does not have the list yet that it has proposed.
NodeFixture proposing() {
    NodeFixture node(member());
    node.disk_answers(true);
    node.lead({1, 2});
    node.step(MembersRequested{{MemberChange::What::add, {5}, "h:5"}, {Asker::observer, 1}});
    REQUIRE(node.last_request(1)->tag == Tag{node.view().epoch, 0});
    REQUIRE(node.view().list.tag() == Tag{});
    return node;
}

}  // namespace

// C1.1, C1.5
TEST_CASE("believing: who has another list of the tag of the one that is proposed has not this") {
    NodeFixture node = proposing();
    const Membership theirs = with_7({node.view().epoch, 0});
    SUBCASE("by its HELLO") {
        node.lose(1);
        node.new_incarnation(1);
        HelloReceived hello = node.hello_from(1);
        hello.hello.version_lowest = version_with_tags;
        hello.hello.changed = theirs;
        hello.hello.cluster_id = {};
        CHECK(sent<Refused>(node.step(hello)).size() == 1);
    }
    SUBCASE("by its answer to a HELLO") {
        node.lose(1);
        HelloAck ack = node.ack_from(1);
        ack.changed = theirs;
        CHECK(only<HandshakeRefused>(node.dial(1, ack)).size() == 1);
    }
    SUBCASE("by its answer to an earlier request") {
        Nack nack;
        nack.holder_incarnation = node.own_incarnation();
        nack.epoch = node.view().epoch;
        nack.reason = NackReason::stale_members;
        nack.members = theirs;
        node.hear(1, nack);
        node.after(node.timing().heartbeat);
        CHECK(node.last_request(1)->members.has_value());
    }
}

// C11.7
TEST_CASE("believing: a leader is of the cluster of those that have a vote in its list") {
    Start start = without_id(member());
    start.file->members = alone({3});
    NodeFixture node(member(), start);
    node.disk_answers(true);
    node.recover();
    node.connect(1);
    node.connect(2);
    for (int i = 0; i < 50 && node.role() != Role::leader; ++i) node.run(node.timing().heartbeat);
    REQUIRE(node.role() == Role::leader);
    for (int i = 0; i < 10; ++i) node.run(node.timing().heartbeat);
    const Identity own = node.node().parts().identity();
    CHECK(own.settled);
    CHECK(own.id != test::cluster_id);
}

// C8.4, C11.5
TEST_CASE("believing: who has lost its disk is told a list by the cluster that it has heard of") {
    const Config config = member();
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    node.connect(2);
    HelloReceived hello = node.hello_from(1);
    hello.hello.version_lowest = version_with_tags;
    hello.hello.changed = alone({1});
    hello.hello.cluster_id = {};
    node.accept(hello);
    HelloAck ack = node.ack_from(1);
    ack.cluster_id = {};
    node.dial(1, ack);
    const auto is_told = [&](const Identity& named) {
        Coordinator told = renewal(node, {4001}, named);
        told.tag = *alone({1}).tag();
        told.members = alone({1});
        told.settled = true;
        node.hear(1, told);
        node.after(milliseconds(10));
        return !node.node().parts().recovering();
    };
    CHECK_FALSE(is_told({}));
    CHECK_FALSE(is_told(named(other_id)));
    CHECK(is_told(named(test::cluster_id)));
}

// C11.5, R6.3
TEST_CASE("believing: the words of two clusters end no silence") {
    NodeFixture node(member(), without_id(member()));
    node.disk_answers(true);
    node.wake();
    const auto answers = [&](std::uint64_t peer, ClusterId id) {
        HelloAck ack = node.ack_from(peer);
        ack.cluster_id = id;
        ack.recall.answer = Recall::Answer::none;
        node.dial(peer, ack);
    };
    answers(1, other_id);
    answers(2, test::cluster_id);
    CHECK(node.node().parts().recovering());
    answers(1, test::cluster_id);
    CHECK_FALSE(node.node().parts().recovering());
}

// C11.6
TEST_CASE("believing: of voters with two settled ids a leader gives neither") {
    IdentityPoll poll({7});
    poll.note({1}, named(test::cluster_id));
    poll.note({2}, named(other_id, false));
    CHECK(poll.newest()->id == test::cluster_id);
    poll.note({2}, named(other_id));
    CHECK_FALSE(poll.newest());
}

// C12.2
TEST_CASE("believing: beside a list a leader names the id that it has been given") {
    Start start = knowing(named(test::cluster_id, false));
    start.file->members = changed_list();
    start.file->hw = {20000};
    NodeFixture node(member(), start);
    node.peers_know({});
    node.disk_answers(true);
    node.stand({1, 2});
    node.answer_grant(2);
    node.after(node.timing().heartbeat);
    REQUIRE(node.last_request(1)->renew);
    REQUIRE(node.last_request(1)->members.has_value());
    CHECK(node.last_request(1)->identity->id == test::cluster_id);
}

// C3.3
TEST_CASE("believing: who is behind is shown the list by a voter that is busy, and takes it") {
    NodeFixture voter = follower(knowing(named(test::cluster_id)), test::cluster_id);
    Coordinator renewed = candidacy_under_list(voter, named(test::cluster_id));
    renewed.renew = true;
    renewed.lease = voter.timing().lease;
    voter.hear(2, renewed);
    REQUIRE(knows_the_list(voter));
    Coordinator candidacy = renewal(voter, {9002}, Identity{});
    candidacy.renew = false;
    candidacy.lease = voter.timing().campaign_lease;
    const auto nacks = sent<Nack>(voter.hear(1, candidacy));
    REQUIRE(nacks.size() == 1);
    CHECK(nacks[0].reason == NackReason::busy);
    CHECK(nacks[0].members == changed_list());
    CHECK(nacks[0].identity->id == test::cluster_id);

    NodeFixture node(member(), knowing({}));
    node.peers_know({});
    node.stand({1, 2});
    node.disk_answers(true);
    Nack nack = nacks[0];
    nack.holder_incarnation = node.own_incarnation();
    nack.epoch = node.last_request(1)->epoch;
    node.hear(1, nack);
    node.hear(2, nack);
    node.after(milliseconds(1));
    CHECK(knows_the_list(node));
}

// C3.3
TEST_CASE("believing: the list of a token that has lost its id is asked for at its owner") {
    NodeFixture node = follower(knowing(named(test::cluster_id)), test::cluster_id);
    const auto nacks = sent<Nack>(node.hear(1, candidacy_under_list(node, std::nullopt)));
    REQUIRE(nacks.size() == 1);
    CHECK(nacks[0].reason == NackReason::stale_members);
    CHECK(nacks[0].members == Membership(one_to_three));
    CHECK(nacks[0].identity->id == test::cluster_id);
}

// C11.8
TEST_CASE("believing: no list is changed while a member can't hear of the cluster's id") {
    NodeFixture node(member());
    node.disk_answers(true);
    node.lead({1, 2});
    HelloAck ack = node.ack_from(1);
    ack.version = version_with_identity - 1;
    node.dial(1, ack);
    const auto answers = only<MembersAnswer>(
        node.step(MembersRequested{{MemberChange::What::add, {5}, "h:5"}, {Asker::observer, 1}}));
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].lasting);
    CHECK(answers[0].why.find("node 1 speaks a version") == 0);
}

// C12.3
TEST_CASE("believing: who hears its founders does not leave them for a list of others") {
    Config config = member();
    const Membership of_others({{9000}, 1}, {{{1}, 0, true, "a:1"}, {{3}, 1, true, "c:1"}}, {{1}});
    const auto deals_with_2 = [](const NodeFixture& node) {
        return node.node().parts().setup.members().find({2}) != nullptr;
    };
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    HelloReceived stray = node.hello_from(1);
    stray.hello.incarnation = {77};
    stray.hello.version_lowest = version_with_tags;
    stray.hello.changed = of_others;
    SUBCASE("it hears one") {
        HelloReceived hello = node.hello_from(2);
        hello.hello.had_file_at_start = true;
        node.step(hello);
        node.step(stray);
        CHECK(deals_with_2(node));
    }
    SUBCASE("it hears none yet") {
        node.step(stray);
        CHECK_FALSE(deals_with_2(node));
        HelloReceived hello = hello_with_list(node, 2);
        hello.hello.changed =
            with(changed_list(), {MemberChange::What::add, {5}, "h:5"}, {{8000}, 1});
        node.step(hello);
        CHECK(deals_with_2(node));
        node.step(stray);
        CHECK(deals_with_2(node));
    }
}

}  // namespace bullring::protocol::believing_test
