// C1.4, C1.5, C8.1, C10.1: two clusters of one name, told apart by their founders; one of which a
// majority is lost.
#include <doctest/doctest.h>

#include "protocol/lease/epoch_bound.hpp"
#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::founding_test {
namespace {

using namespace test;
using What = MemberChange::What;

/// That which 1, 5 and 6 have founded, grown by 2 and 3.
Membership other_cluster(Tag tag) {
    Membership list(std::vector<NodeId>{{1}, {5}, {6}});
    for (const NodeId id : {NodeId{2}, NodeId{3}})
        list = *with(list, {What::add, id, "h:" + std::to_string(id.value)}, tag);
    return list;
}

/// Node 3 of the cluster that 1, 2 and 3 have founded, which never stands.
NodeFixture member() {
    Config config = test::config_for(3, {1, 2, 3});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    return node;
}

NodeFixture without_file(const Config& config) {
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.wake();
    return node;
}

HelloReceived hello_with(NodeFixture& node, std::uint64_t from, const Membership& list) {
    HelloReceived hello = node.hello_from(from);
    hello.hello.version_lowest = version_with_tags;
    hello.hello.members = list.ids();
    hello.hello.changed = list;
    return hello;
}

Membership list_of(const NodeFixture& node) { return node.node().parts().list(); }

}  // namespace

// C1.6
TEST_CASE("founding: a node of another cluster is refused, and its list is not taken") {
    NodeFixture node = member();
    const auto refused = sent<Refused>(node.step(hello_with(node, 1, other_cluster({{9000}, 1}))));
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].field == "founders");
    CHECK(refused[0].mine == "1,2,3");
    CHECK(refused[0].yours == "1,5,6");
    node.after(seconds(60));
    CHECK(list_of(node).tag() == Tag{});
    CHECK(node.view().epoch < Epoch{9000});
}

TEST_CASE("founding: who is refused for its members is shown the list that there is") {
    NodeFixture node = member();
    HelloReceived hello = node.hello_from(1);
    SUBCASE("other members") { hello.hello.members = {{1}, {2}}; }
    SUBCASE("not one of them") { hello.hello.id = {9}; }
    const auto refused = sent<Refused>(node.step(hello));
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].list == list_of(node));
}

TEST_CASE("founding: whoever was shown a list that this node lacks may be a member already") {
    NodeFixture node = member();
    HelloReceived hello = node.hello_from(1);
    hello.hello.id = {9};
    SUBCASE("it was shown nothing") { CHECK(sent<Refused>(node.step(hello))[0].field == "id"); }
    SUBCASE("it was shown the leader's own list, which comes before the one that it is in") {
        const Membership own({{9000}, 0}, list_of(node).entries(), list_of(node).founders());
        hello.hello.members.clear();
        hello.hello.shown = own;
        CHECK(differs_in(sent<Refused>(node.step(hello))[0], Difference::member));
    }
}

TEST_CASE("founding: an answer from another cluster ends the session, and its list is not taken") {
    NodeFixture node = member();
    HelloAck ack = node.ack_from(1);
    ack.max_seen = {9000};
    ack.changed = other_cluster({{9000}, 1});
    const Actions actions = node.dial(1, ack);
    const auto refused = only<HandshakeRefused>(actions);
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].difference.field == "founders");
    CHECK(only<CloseSession>(actions).size() == 1);
    node.after(seconds(60));
    CHECK(list_of(node).tag() == Tag{});
    CHECK(node.view().epoch < Epoch{9000});
}

TEST_CASE("founding: a refusal and a NACK from another cluster show it nothing to take") {
    NodeFixture node = member();
    node.connect(1);
    SUBCASE("REFUSED") {
        node.step(Dialled{{2}, {2500}, {}});
        node.step(Receive{{2500}, Refused{"member", "1,5,6", "3", other_cluster({{9000}, 1})}});
    }
    SUBCASE("NACK") {
        Nack nack;
        nack.reason = NackReason::stale_members;
        nack.members = other_cluster({{9000}, 1});
        node.hear(1, nack);
    }
    node.after(seconds(60));
    CHECK(list_of(node).tag() == Tag{});
}

TEST_CASE("founding: no vote is given under a list of another cluster") {
    NodeFixture node = member();
    node.connect(1);
    const Membership list = other_cluster({{9000}, 1});
    node.hear(1, Coordinator{.epoch = {9000},
                             .lease = node.timing().lease,
                             .stamp = node.now(),
                             .renew = true,
                             .tag = *list.tag(),
                             .members = list});
    CHECK(list_of(node).tag() == Tag{});
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("founding: a node without a file founds no cluster beside one that it is shown") {
    const Config config = test::config_for(4, {4});
    NodeFixture node = without_file(config);
    // Founded by node 1 alone, and never changed: it does not have this node.
    HelloReceived hello = node.hello_from(1);
    hello.hello.members = {{1}};
    hello.hello.recovering = false;
    const Actions actions = node.step(hello);
    const auto notes = only<Note>(actions);
    REQUIRE(notes.size() == 1);
    CHECK(
        notes[0].text ==
        "a cluster of this name was founded by 1, and not by 4, which peers has: this node founds "
        "none, and waits for being added there (member add)");
    for (int i = 0; i < 60; ++i) {
        node.pass(seconds(1));
        HelloReceived again = node.hello_from(1);
        again.hello = hello.hello;
        for (const Note& note : only<Note>(node.step(again)))
            CHECK(note.text != notes[0].text);  // said once
    }
    CHECK(node.view().recovering);
    CHECK(list_of(node).empty());
    // That one has gone, or was emptied.
    node.after(node.timing().promise(node.timing().lease_max));
    CHECK(list_of(node) == config.members);
}

TEST_CASE("founding: what a node without a file was shown it passes on to others without one") {
    const Config config = test::config_for(3, {2, 3});
    const Membership list = other_cluster({{9000}, 1});
    const auto shown_in_hello = [&](NodeFixture& node) {
        HelloReceived hello = node.hello_from(2);
        hello.hello.recovering = true;
        hello.hello.had_file_at_start = false;
        hello.hello.shown = list;
        return hello;
    };
    SUBCASE("it takes it to heart") {
        NodeFixture node = without_file(config);
        node.accept(shown_in_hello(node));
        HelloAck ack = node.ack_from(2);
        ack.recovering = true;
        ack.had_file_at_start = false;
        node.dial(2, ack);
        node.after(seconds(60));
        CHECK(node.view().recovering);
    }
    SUBCASE("it tells it") {
        NodeFixture node = without_file(config);
        node.step(Dialled{{2}, {2500}, {}});
        node.step(Receive{{2500}, Refused{"member", "1,2,5,6", "3", list}});
        const auto hello = sent<Hello>(node.step(Dialled{{2}, {2501}, {}}));
        REQUIRE(hello.size() == 1);
        CHECK(hello[0].shown == list);
        CHECK(hello[0].version_lowest == version_with_tags);
        const auto ack = sent<HelloAck>(node.step(shown_in_hello(node)));
        REQUIRE(ack.size() == 1);
        CHECK(ack[0].shown == list);
    }
    SUBCASE("who has a list goes by that") {
        NodeFixture node = member();
        HelloReceived hello = shown_in_hello(node);
        hello.hello.members = {{1}, {2}, {3}};
        hello.hello.shown = *with(list_of(node), {What::add, {4}, "h:4"}, {{9000}, 0});
        node.accept(hello);
        node.after(seconds(60));
        CHECK(list_of(node).tag() == Tag{});
    }
}

TEST_CASE("founding: who has no list either shows no other cluster") {
    const Config config = test::config_for(4, {4});
    NodeFixture node = without_file(config);
    HelloReceived hello = node.hello_from(1);
    hello.hello.members = {{1}};
    hello.hello.recovering = true;
    hello.hello.had_file_at_start = false;
    node.step(hello);
    node.after(seconds(60));
    CHECK(node.role() == Role::leader);
}

// C1.7
TEST_CASE("founding: a node that is told its list meets those anew who have not shown theirs") {
    const Config config = test::config_for(3, {1, 2, 3});
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.accept(hello_with(node, 1, other_cluster({{9000}, 1})));
    node.after(node.timing().promise(node.timing().lease_max));
    const Membership list = other_cluster({{9000}, 1});
    // 1 has shown it, 2 another one.
    node.accept(hello_with(node, 1, list));
    node.connect(2);
    const Actions told = node.hear(1, Coordinator{.epoch = {9000},
                                                  .lease = node.timing().lease,
                                                  .stamp = node.now(),
                                                  .renew = true,
                                                  .tag = *list.tag(),
                                                  .members = list,
                                                  .identity = Identity{test::cluster_id, {1}}});
    CHECK(list_of(node) == list);
    CHECK(only<DialNow>(told) == std::vector<DialNow>{DialNow{{2}}});
}

// C10.1
TEST_CASE("founded anew: one member is left, with a vote, above all epochs of before") {
    Durable before = *test::start_with_file(test::config_for(2, {1, 2, 3})).file;
    Epoch above = before.hw;
    SUBCASE("the clock is behind") {
        CHECK(refounded(before, {2}, {17}).members.tag()->epoch == above + 1);
    }
    SUBCASE("the clock is ahead") {
        above = EpochBound::of_clock(1'800'000'000'000);
        CHECK(refounded(before, {2}, above).members.tag()->epoch == above + 1);
    }
    SUBCASE("the list is, and this member has no vote in it") {
        above = before.hw + 1000;
        before.members = *with(before.members, {What::demote, {2}, ""}, {above, 7});
        CHECK(refounded(before, {2}, {17}).members.tag() == Tag{above + 1, 0});
    }
    const Durable after = refounded(before, {2}, above);
    CHECK(after.hw == above + 1);
    CHECK(after.members.ids() == std::vector<NodeId>{{2}});
    CHECK(after.members.voters().size() == 1);
    CHECK(after.members.founders() == before.members.founders());
    CHECK(after.promised_max == before.promised_max);
    CHECK(after.hooks);
}

TEST_CASE("founded anew: it leads when what it promised is over, and who comes back is out") {
    const Config config = test::config_for(2, {1, 2, 3});
    Start start = test::start_with_file(config);
    start.file->promised_max = seconds(3);
    start.file = refounded(*start.file, {2}, {17});
    NodeFixture node(config, start);
    node.disk_answers(true);
    node.after(seconds(3) - Duration{1});
    CHECK(node.role() == Role::follower);
    node.run(seconds(1));
    CHECK(node.role() == Role::leader);
    CHECK(node.view().epoch > start.file->hw);
    const auto refused = sent<Refused>(node.step(node.hello_from(1)));
    REQUIRE(refused.size() == 1);
    NodeFixture back(test::config_for(1, {1, 2, 3}));
    back.disk_answers(true);
    back.recover();
    back.step(Dialled{{2}, {2500}, {}});
    back.step(Receive{{2500}, refused[0]});
    CHECK(list_of(back) == list_of(node));
    CHECK(back.view().why.rfind("removed: ", 0) == 0);
}

}  // namespace bullring::protocol::founding_test
