// Members without a vote that are gone (C9).
#include <doctest/doctest.h>

#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::forgetting_test {
namespace {

using namespace test;
using What = MemberChange::What;

constexpr Duration forget_after = seconds(5);
constexpr Duration a_moment = milliseconds(100);

/// Node 3, which leads 1 and 2, and has added 4 without a vote.
NodeFixture leader(Duration forgets = forget_after) {
    Config config = test::config_for(3, {1, 2, 3});
    config.forget_after = forgets;
    NodeFixture node(config);
    node.disk_answers(true);
    node.lead({1, 2});
    node.step(MembersRequested{{What::add, {4}, "h:4"}, {Asker::observer, 7}});
    node.run_granted(a_moment * 3);
    REQUIRE(node.view().list.ids() == std::vector<NodeId>{{1}, {2}, {3}, {4}});
    return node;
}

std::vector<NodeId> ids(const NodeFixture& node) { return node.view().list.ids(); }

const std::vector<NodeId> with_4{{1}, {2}, {3}, {4}};
const std::vector<NodeId> without_4{{1}, {2}, {3}};

}  // namespace

// C9.1
TEST_CASE("forgetting: a member without a vote that never comes is removed after a while") {
    NodeFixture node = leader();
    node.run_granted(forget_after - a_moment * 5);
    CHECK(ids(node) == with_4);
    const Actions actions = node.run_granted(a_moment * 8);
    CHECK(ids(node) == without_4);
    const auto notes = only<Note>(actions);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].peer == NodeId{4});
    CHECK(notes[0].text ==
          "node 4, which has no vote and was not heard for 5s (--forget-after), is no member any "
          "more");
    CHECK(only<Deposed>(actions).empty());
    // Nobody has asked, so nobody is answered.
    CHECK(only<MembersAnswer>(actions).empty());
}

// C9.1
TEST_CASE("forgetting: counts from the last word, and one that is heard stays") {
    NodeFixture node = leader();
    node.connect(4);
    node.run_granted(forget_after * 2);
    CHECK(ids(node) == with_4);
    node.lose(4);
    node.run_granted(forget_after - a_moment * 3);
    CHECK(ids(node) == with_4);
    node.run_granted(a_moment * 6);
    CHECK(ids(node) == without_4);
}

// C9.2
TEST_CASE("forgetting: never a voter, and nobody with 0") {
    NodeFixture node = leader(Duration{0});
    node.run_granted(seconds(300));
    CHECK(ids(node) == with_4);
    NodeFixture other = leader();
    other.connect(4);
    other.lose(1);
    other.run_granted(forget_after * 3);
    CHECK(ids(other) == with_4);
}

// C9.1
TEST_CASE("forgetting: nobody but the leader forgets") {
    Config config = test::config_for(2, {1, 2, 3});
    config.priority = Priority::never();
    config.forget_after = forget_after;
    NodeFixture node(config);
    node.disk_answers(true);
    node.recover();
    node.accept(1);
    const Membership list = *with(Membership(std::vector<NodeId>{{1}, {2}, {3}}),
                                  {What::add, {4}, "h:4"}, Tag{{6000}, 1});
    HelloAck ack = node.ack_from(1);
    ack.changed = list;
    node.dial(1, ack);
    REQUIRE(ids(node) == with_4);
    node.run(forget_after * 2);
    CHECK(ids(node) == with_4);
}

// C9.1
TEST_CASE("forgetting: what is under way by a user goes before, and a majority has to be there") {
    NodeFixture node = leader();
    node.run_granted(forget_after - a_moment * 5);
    node.step(MembersRequested{{What::address, {4}, "h:5"}, {Asker::observer, 8}});
    const Actions actions = node.run_granted(a_moment * 12);
    CHECK(only_one<MembersAnswer>(actions).done);
    CHECK(ids(node) == without_4);
}

}  // namespace bullring::protocol::forgetting_test
