// Ring (§8): the election token and its hops.
#include <doctest/doctest.h>

#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::ring_test {
namespace {

using namespace test;

MemberSet mask(std::initializer_list<Index> members) {
    MemberSet set;
    for (const Index i : members) set.insert(i);
    return set;
}

/// Node 2 of {1, 2, 3, 4}; with `stands` false it only votes and forwards.
NodeFixture fresh(bool stands, std::vector<std::uint64_t> peers = {1, 3, 4}) {
    Config config = test::config_for(2, {1, 2, 3, 4}, Algorithm::ring);
    if (!stands) config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : peers) node.connect(peer);
    return node;
}

/// A token of `owner`'s first round that has come from it by way of `path`.
Token token_of(NodeFixture& node, std::uint64_t owner, std::vector<Index> path,
               std::uint32_t step = 1, std::uint64_t round = 1) {
    Token token;
    token.walk = node.walk_from(owner, std::move(path), step, round);
    token.max_seen = {5000};
    return token;
}
TokenAck ack_of(const Walk& walk) {
    return {walk.owner, walk.owner_incarnation, walk.round, walk.step};
}
struct Hop {
    SessionId session;
    Token token;
};
std::vector<Hop> hops(const Actions& actions) {
    std::vector<Hop> found;
    for (const Send& send : only<Send>(actions))
        if (const auto* token = std::get_if<Token>(&send.message))
            found.push_back({send.session, *token});
    return found;
}

// C7.1
TEST_CASE("ring: a removed node takes no token") {
    NodeFixture node = fresh(true, {3, 4});
    node.disk_answers(true);
    node.accept(1);
    const Token first = token_of(node, 3, {3});
    CHECK(sent<TokenAck>(node.hear(3, first)).size() == 1);
    const Membership without =
        *with(node.config().members, {MemberChange::What::remove, {2}, {}}, {{6000}, 1});
    node.step(Dialled{{1}, {1500}, {}});
    node.step(Receive{{1500}, Refused{"member", "1,3,4", "2", without, test::cluster_id}});
    REQUIRE(node.node().parts().removed());
    node.connect(3);
    const Actions actions = node.hear(3, token_of(node, 3, {3}, 1, 2));
    CHECK(sent<TokenAck>(actions).empty());
    CHECK(hops(actions).empty());
}

// ---- The node's own round.

TEST_CASE("ring: who has a majority and knows no leader sends a token to the next on the ring") {
    NodeFixture node = fresh(true, {1});
    node.accept(3);
    node.dial(3);
    const Actions actions = without_heartbeats(node.hear_heartbeat(3));
    Token token;
    token.walk.owner = {2};
    token.walk.owner_incarnation = node.own_incarnation();
    token.walk.round = 1;
    token.walk.step = 1;
    token.walk.visited = mask({1});
    token.walk.path = {1};
    token.max_seen = {5000};
    CHECK(actions == Actions{ElectionStarted{{5001}, "no leader is known"},
                             Send{node.dialled(3), token}, PeerUp{{3}}});
}

TEST_CASE("ring: the last on the ring sends to the first") {
    NodeFixture node(test::config_for(4, {1, 2, 4}, Algorithm::ring));
    node.recover();
    const std::vector<Hop> first = hops(node.connect(1));
    REQUIRE(first.size() == 1);
    CHECK(first[0].session == node.dialled(1));
}

/// The token of node 2's own round as it comes back from the last of `visited`.
Token returned(const NodeFixture& node, MemberSet visited, std::uint32_t step) {
    Token token;
    token.walk.owner = {2};
    token.walk.owner_incarnation = node.own_incarnation();
    token.walk.round = 1;
    token.walk.step = step;
    token.walk.visited = visited;
    token.walk.path = {1};
    token.max_seen = {5000};
    return token;
}

TEST_CASE("ring: its own token, back with a majority, makes a candidate, by coordinator token") {
    NodeFixture node = fresh(true);
    const Token back = returned(node, mask({0, 1, 2}), 3);
    const Actions actions = without_heartbeats(node.hear(1, back));
    CoordinatorToken request;
    request.walk.owner = {2};
    request.walk.owner_incarnation = node.own_incarnation();
    request.walk.round = 2;
    request.walk.step = 1;
    request.walk.visited = mask({1});
    request.walk.path = {1};
    request.request = {{5001}, node.timing().campaign_lease, node.now(), false, true};
    CHECK(actions == Actions{Send{node.dialled(1), ack_of(back.walk)},
                             RoleChanged{Role::candidate, {5001}}, Send{node.dialled(3), request}});
}

TEST_CASE("ring: its own token, back with fewer, goes on to nodes not yet visited") {
    NodeFixture node = fresh(true);
    const Actions actions = node.hear(3, returned(node, mask({1, 2}), 2));
    CHECK(node.role() == Role::follower);
    const std::vector<Hop> onward = hops(actions);
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].session == node.dialled(4));
    CHECK(onward[0].token.walk.step == 3);
}

TEST_CASE("ring: only the first return of the current round counts") {
    NodeFixture node = fresh(true);
    Token back = returned(node, mask({0, 1, 2}), 3);
    SUBCASE("an older round") { back.walk.round = 0; }
    SUBCASE("a round that never was") { back.walk.round = 7; }
    SUBCASE("another run of this node") { back.walk.owner_incarnation = {12345}; }
    SUBCASE("the second return") {
        node.hear(1, back);
        node.after(node.timing().campaign_wait);  // the candidacy comes to nothing
        REQUIRE(node.role() == Role::follower);
        back.walk.step = 6;
    }
    const Actions actions = node.hear(1, back);
    CHECK(only<RoleChanged>(actions).empty());
    CHECK(sent<TokenAck>(actions).size() == 1);
}

TEST_CASE("ring: a round without a leader for T_ring is followed by another soon after") {
    NodeFixture node = fresh(true);
    Actions actions = node.run(node.timing().ring_wait - milliseconds(1));
    CHECK(only<ElectionStarted>(actions).empty());
    actions = {};
    for (int ms = 0; ms <= 64; ++ms) test::append(actions, node.run(milliseconds(1)));
    CHECK(only<ElectionStarted>(actions).size() == 1);
    REQUIRE_FALSE(hops(actions).empty());
    CHECK(hops(actions).back().token.walk.round == 2);
}

// ---- Others' tokens.

TEST_CASE("ring: a better one's token is acknowledged and passed on with this node in it") {
    NodeFixture node = fresh(true);
    const Token received = token_of(node, 3, {2, 3, 0}, 3);
    Token onward = received;
    onward.walk.visited.insert(1);
    onward.walk.path = {2, 3, 0, 1};
    onward.walk.step = 4;
    CHECK(without_heartbeats(node.hear(1, received)) ==
          Actions{Send{node.dialled(1), ack_of(received.walk)}, Send{node.dialled(3), onward}});
}

TEST_CASE("ring: a worse one's token is swallowed while its own round is under way") {
    NodeFixture node = fresh(true);
    const Token received = token_of(node, 1, {0});
    CHECK(without_heartbeats(node.hear(1, received)) ==
          Actions{Send{node.dialled(1), ack_of(received.walk)}});
}

TEST_CASE("ring: the owner's priority stands in the token and decides before the id") {
    NodeFixture node = fresh(true);
    Token received = token_of(node, 1, {0});
    received.owner_priority = {5};
    CHECK(hops(node.hear(1, received)).size() == 1);
}

// T2.1
TEST_CASE("ring: who may not stand passes a worse one's token on") {
    NodeFixture node = fresh(true);
    SUBCASE("priority never") { node = fresh(false); }
    SUBCASE("not well") { node.step(HealthChanged{false}); }
    SUBCASE("not able after a round of its own that led nowhere") {
        node.run(node.timing().ring_wait);
    }
    SUBCASE("its promise is given to the token's owner") {
        node = fresh(false);
        node.hear(1, node.candidacy(5001));
    }
    const std::vector<Hop> passed = hops(node.hear(1, token_of(node, 1, {0})));
    REQUIRE(passed.size() == 1);
    CHECK(passed[0].token.walk.owner == NodeId{1});
}

// R6.18
TEST_CASE("ring: who is recovering passes tokens on") {
    NodeFixture node(test::config_for(2, {1, 2, 3, 4}, Algorithm::ring));
    node.disk_answers(true);
    for (const std::uint64_t peer : {1U, 3U, 4U}) node.connect(peer);
    CHECK(hops(node.hear(1, token_of(node, 1, {0}))).size() == 1);
}

TEST_CASE("ring: when everybody is visited the token goes home, or back when home is not there") {
    NodeFixture node = fresh(false);
    std::vector<Hop> next = hops(node.hear(1, token_of(node, 3, {2, 3, 0}, 3)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].session == node.dialled(3));
    node = fresh(false, {1, 4});
    next = hops(node.hear(1, token_of(node, 3, {2, 3, 0}, 3)));
    REQUIRE(next.size() == 1);
    CHECK(next[0].session == node.dialled(1));
}

// T1.2
TEST_CASE("ring: a token is accepted once, and an older step never again") {
    NodeFixture node = fresh(false);
    const Token token = token_of(node, 3, {2, 3, 0}, 3);
    CHECK(hops(node.hear(1, token)).size() == 1);
    for (const std::uint32_t step : {3U, 2U, 1U}) {
        Token again = token;
        again.walk.step = step;
        CHECK(without_heartbeats(node.hear(4, again)) ==
              Actions{Send{node.dialled(4), ack_of(again.walk)}});
    }
    Token newer = token;
    newer.walk.round = 2;
    newer.walk.step = 1;
    CHECK(hops(node.hear(1, newer)).size() == 1);
    Token old_round = token;
    old_round.walk.step = 9;
    CHECK(hops(node.hear(1, old_round)).empty());
}

// T1.2
TEST_CASE("ring: tokens of two runs of one owner that alternate pass a node once each") {
    NodeFixture node = fresh(false);
    const Token older = token_of(node, 3, {2, 3, 0}, 3);
    Token newer = older;
    newer.walk.owner_incarnation = {older.walk.owner_incarnation.value + 1};
    for (const Token& token : {older, newer}) CHECK(hops(node.hear(1, token)).size() == 1);
    for (const Token& token : {older, newer, older, newer})
        CHECK(hops(node.hear(4, token)).empty());
    newer.walk.step += 1;
    CHECK(hops(node.hear(1, newer)).size() == 1);
}

TEST_CASE("ring: a token that cannot be is dropped without an answer") {
    NodeFixture node = fresh(false);
    Token token = token_of(node, 3, {2});
    SUBCASE("of no member") { token.walk.owner = {9}; }
    SUBCASE("a path through what is no slot") { token.walk.path = {members_max}; }
    SUBCASE("a path that is too long") { token.walk.path.assign(members_max + 1, 0); }
    CHECK(without_heartbeats(node.hear(3, token)) == Actions{});
}

// C1
TEST_CASE("ring: a token that names slots which are free here goes on") {
    NodeFixture node = fresh(false);
    Token token = token_of(node, 3, {2});
    token.walk.visited.insert(4);
    token.walk.path = {7};
    CHECK(hops(node.hear(3, token)).size() == 1);
}

// T1.1
TEST_CASE("ring: no token goes further than three times round") {
    NodeFixture node = fresh(false);
    CHECK(hops(node.hear(1, token_of(node, 3, {2}, 8))).size() == 1);
    CHECK(hops(node.hear(1, token_of(node, 3, {2}, 9))).empty());
    CHECK(hops(node.hear(1, token_of(node, 3, {2}, 4'000'000'000U, 2))).empty());
}

// ---- Hops that fail.

TEST_CASE("ring: an acknowledged hop is not sent again") {
    NodeFixture node = fresh(false);
    const std::vector<Hop> hop = hops(node.hear(1, token_of(node, 1, {0})));
    REQUIRE(hop.size() == 1);
    node.hear(3, ack_of(hop[0].token.walk));
    CHECK(hops(node.run(seconds(1))).empty());
}

TEST_CASE("ring: without an acknowledgement in T_hop the same step goes to the next choice") {
    NodeFixture node = fresh(false);
    const std::vector<Hop> hop = hops(node.hear(1, token_of(node, 1, {0})));
    REQUIRE(hop.size() == 1);
    REQUIRE(hop[0].session == node.dialled(3));
    node.hear(4, ack_of(hop[0].token.walk));  // of somebody who was not sent it: no acknowledgement
    CHECK(hops(node.after(node.timing().hop_wait - Duration{1})).empty());
    const std::vector<Hop> again = hops(node.after(Duration{1}));
    REQUIRE(again.size() == 1);
    CHECK(again[0].session == node.dialled(4));
    CHECK(again[0].token == hop[0].token);
}

TEST_CASE("ring: the end of the receiver's session sends the token elsewhere at once") {
    for (const SessionEnd how : {SessionEnd::eof, SessionEnd::reset}) {
        NodeFixture node = fresh(false);
        REQUIRE(hops(node.hear(1, token_of(node, 1, {0}))).size() == 1);
        const std::vector<Hop> again = hops(node.lose(3, how));
        REQUIRE(again.size() == 1);
        CHECK(again[0].session == node.dialled(4));
    }
}

TEST_CASE("ring: its host is woken for a hop that is not acknowledged") {
    NodeFixture node = fresh(false);
    node.run(milliseconds(50));
    node.hear(1, token_of(node, 1, {0}));
    CHECK(node.node().until_wake(node.now()) <= node.timing().hop_wait);
}

// ---- While a leader is known.

TEST_CASE("ring: while a leader is known first-hand a token waits, the best one of several") {
    NodeFixture node = fresh(false);
    node.hear(4, node.renewal(5001));
    Actions actions = node.hear(1, token_of(node, 1, {0}));
    test::append(actions, node.hear(3, token_of(node, 3, {2})));
    test::append(actions, node.hear(1, token_of(node, 1, {0}, 1, 2)));
    CHECK(sent<TokenAck>(actions).size() == 3);
    CHECK(hops(actions).empty());
    const std::vector<Hop> freed = hops(node.lose(4));
    REQUIRE(freed.size() == 1);
    CHECK(freed[0].token.walk.owner == NodeId{3});
}

TEST_CASE("ring: a token that waits is dropped when its owner has given its round up") {
    NodeFixture node = fresh(false);
    const auto renew = [&] { node.hear(4, node.renewal(5001)); };
    renew();
    node.hear(3, token_of(node, 3, {2}));
    node.pass(node.timing().ring_wait);
    renew();
    SUBCASE("it does not go on") { CHECK(hops(node.lose(4)).empty()); }
    SUBCASE("a worse one's that comes now takes its place") {
        node.hear(1, token_of(node, 1, {0}));
        const std::vector<Hop> freed = hops(node.lose(4));
        REQUIRE(freed.size() == 1);
        CHECK(freed[0].token.walk.owner == NodeId{1});
    }
}

TEST_CASE("ring: what comes round another way takes the place of a token that waits") {
    NodeFixture node = fresh(false);
    node.hear(4, node.renewal(5001));
    CHECK(hops(node.hear(1, token_of(node, 1, {0}))).empty());
    node.pass(milliseconds(2000));  // longer than the promise lasts; the host is late
    const std::vector<Hop> onward = hops(node.hear(3, token_of(node, 1, {0, 2}, 2)));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.walk.step == 3);
}

TEST_CASE("ring: a leader that is elected ends its own round") {
    NodeFixture node = fresh(true);
    node.hear(4, node.renewal(5001));
    CHECK(only<RoleChanged>(node.hear(1, returned(node, mask({0, 1, 2}), 3))).empty());
    CHECK(node.role() == Role::follower);
}

}  // namespace
}  // namespace bullring::protocol::ring_test
