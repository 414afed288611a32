// C12: whose word is believed.
#include <doctest/doctest.h>

#include "tests/support/identity_fixture.hpp"

namespace bullring::protocol::believing_test {
namespace {

using test::NodeFixture;
using test::sent;

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
    CHECK(node.node().member().max_seen() < Epoch{9000});
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
    CHECK_FALSE(node.node().recovering());
}

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

// C12.2
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

// C12.3
TEST_CASE("believing: who hears its founders does not leave them for a list of others") {
    Config config = member();
    const Membership of_others({{9000}, 1}, {{{1}, 0, true, "a:1"}, {{3}, 1, true, "c:1"}}, {{1}});
    const auto deals_with_2 = [](const NodeFixture& node) {
        return node.node().member().setup().members().find({2}) != nullptr;
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
