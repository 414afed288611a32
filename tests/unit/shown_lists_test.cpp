// C12.2: a list that was shown to a node before it had the cluster's id, by a state directory of
// before there were ids: it is forgotten as soon as the node learns the id, and not once its disk
// has it.
#include <doctest/doctest.h>

#include "tests/support/identity_fixture.hpp"

namespace bullring::protocol::identity_test {
namespace {

using namespace test;

/// In which node 3 alone votes.
Membership list_of_before() {
    return Membership({{4001}, 0},
                      {{{1}, 0, false, "a:1"}, {{2}, 1, false, "b:1"}, {{3}, 2, true, "c:1"}},
                      {{1}, {2}, {3}});
}

void show_list_of_before(NodeFixture& node, std::uint64_t by) {
    HelloReceived hello = node.hello_from(by);
    hello.hello.version_lowest = version_with_tags;
    hello.hello.changed = list_of_before();
    hello.hello.cluster_id = {};
    REQUIRE(sent<Refused>(node.accept(hello)).empty());
    node.lose(by);
}

/// Node 3 was away while the id was settled, and stands. A machine of node 2 with an old directory
/// greets it meanwhile; then it leads by the vote of 1, which has the id.
struct Returned {
    NodeFixture node{member(), without_id(member())};

    Returned() {
        node.disk_answers(true);
        node.peers_know(test::cluster_id);
        node.stand({1, 2});
        REQUIRE(node.role() == Role::candidate);
        node.lose(2);
        node.new_incarnation(2);
        show_list_of_before(node, 2);
        node.answer_grant(1);
        REQUIRE(node.role() == Role::leader);
        for (int i = 0; i < 5; ++i) renew_by_who_has_the_id(node, 1);
        CHECK(id() == test::cluster_id);
    }
    ClusterId id() const { return node.node().parts().identity().known(); }
    Tag list() const { return node.view().list.tag().value_or(Tag{}); }
};

}  // namespace

TEST_CASE("shown lists: a leader that steps down takes none that it was shown without an id") {
    Returned returned;
    NodeFixture& node = returned.node;
    const Epoch epoch = node.view().epoch;
    node.step(HealthChanged{false});
    node.step(TaskEnded{epoch});
    REQUIRE(node.role() == Role::follower);
    for (int i = 0; i < 5; ++i) {
        node.after(node.timing().heartbeat);
        node.hear_heartbeat(1);
    }
    CHECK(returned.list() == Tag{});
}

TEST_CASE("shown lists: a leader that is cut off does not lead alone by one of them") {
    Returned returned;
    NodeFixture& node = returned.node;
    const Epoch first = node.view().epoch;
    node.lose(1, SessionEnd::timeout);
    for (int i = 0; i < 200; ++i) {
        const Actions actions = node.after(node.timing().heartbeat / 4);
        if (!only<StopTask>(actions).empty()) node.step(TaskEnded{first});
    }
    CHECK(node.role() == Role::follower);
    CHECK(returned.list() == Tag{});
}

TEST_CASE("shown lists: none is taken while the id is on its way to the disk") {
    Config config = member();
    config.priority = Priority::never();
    NodeFixture node(config, without_id(config));
    node.peers_know({});
    node.disk_answers(true);
    node.recover();
    node.connect(1);
    Coordinator candidacy = renewal(node, {9001}, std::nullopt);
    candidacy.renew = false;
    candidacy.lease = node.timing().campaign_lease;
    REQUIRE(sent<Grant>(node.hear(1, candidacy)).size() == 1);
    const Coordinator renewed = renewal(node, {9001}, Identity{test::cluster_id, {9000}, true});
    SUBCASE("that was shown before") {
        show_list_of_before(node, 2);
        node.disk_answers(false);
        REQUIRE(sent<Grant>(node.hear(1, renewed)).size() == 1);
    }
    SUBCASE("that is shown then") {
        node.disk_answers(false);
        REQUIRE(sent<Grant>(node.hear(1, renewed)).size() == 1);
        show_list_of_before(node, 2);
    }
    node.hear(1, Resign{{9001}, nobody});
    node.disk_answers(true);
    node.persisted();
    for (int i = 0; i < 3; ++i) node.after(milliseconds(1));
    CHECK(node.node().parts().identity().id == test::cluster_id);
    CHECK(node.view().list.tag() == Tag{});
}

}  // namespace bullring::protocol::identity_test
