// Ring (§8): the coordinator token and the renewals.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::ring_requests_test {
namespace {

using namespace test;

MemberSet mask(std::initializer_list<Index> members) {
    MemberSet set;
    for (const Index i : members) set.insert(i);
    return set;
}

/// Node 2 of {1, 2, 3, 4, 5} that only votes.
NodeFixture voter() {
    Config config = test::config_for(2, {1, 2, 3, 4, 5}, Algorithm::ring);
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : {1U, 3U, 4U, 5U}) node.connect(peer);
    return node;
}
/// Node 5's request, one hop old, with no answers yet.
CoordinatorToken request_of(NodeFixture& node, std::uint64_t owner, std::uint64_t epoch,
                            std::uint64_t round = 1) {
    CoordinatorToken token;
    token.walk = node.walk_from(owner, {static_cast<Index>(owner - 1)}, 1, round);
    token.request = {{epoch}, node.timing().campaign_lease, node.now(), false, true};
    return token;
}
struct Hop {
    SessionId session;
    CoordinatorToken token;
};
std::vector<Hop> hops(const Actions& actions) {
    std::vector<Hop> found;
    for (const Send& send : only<Send>(actions))
        if (const auto* token = std::get_if<CoordinatorToken>(&send.message))
            found.push_back({send.session, *token});
    return found;
}

// ---- The voter.

TEST_CASE(
    "ring request: a voter adds its grant, tied to the holder's newest session, and passes it on") {
    NodeFixture node = voter();
    node.accept(5);  // a newer one: number 7001
    const CoordinatorToken asked = request_of(node, 5, 5001);
    CoordinatorToken onward = asked;
    onward.walk.visited.insert(1);
    onward.walk.path = {4, 1};
    onward.walk.step = 2;
    onward.grants = {{{2}, node.own_incarnation(), {7001}}};
    CHECK(without_heartbeats(node.hear(5, asked)) ==
          Actions{Send{node.dialled(5), TokenAck{{5}, node.incarnation_of(5), 1, 1}},
                  Send{node.dialled(3), onward}});
    CHECK(node.view().promised_to == NodeId{5});
    node.lose(5);
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("ring request: a grant to a run of the holder that has no session here is untied") {
    NodeFixture node = voter();
    CoordinatorToken asked = request_of(node, 5, 5001);
    asked.walk.owner_incarnation = {12345};
    asked.request.renew = true;
    const std::vector<Hop> onward = hops(node.hear(1, asked));
    REQUIRE(onward.size() == 1);
    REQUIRE(onward[0].token.grants.size() == 1);
    CHECK(onward[0].token.grants[0].tied_session == no_session);
    node.lose(5);
    CHECK(node.view().promised_to == NodeId{5});
}

// R2.2a
TEST_CASE("ring request: a candidacy of a run that does not answer at its address is refused") {
    NodeFixture node = voter();
    CoordinatorToken asked = request_of(node, 5, 5001);
    asked.walk.owner_incarnation = {12345};
    const std::vector<Hop> onward = hops(node.hear(1, asked));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.grants.empty());
    REQUIRE(onward[0].token.nacks.size() == 1);
    CHECK(onward[0].token.nacks[0].reason == NackReason::unknown_holder);
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("ring request: with enough grants it goes straight home") {
    NodeFixture node = voter();
    CoordinatorToken asked = request_of(node, 5, 5001);
    asked.walk.visited = mask({4, 0});
    asked.walk.path = {4, 0};
    asked.walk.step = 2;
    asked.grants = {{{1}, node.incarnation_of(1), {7000}}};
    const std::vector<Hop> onward = hops(node.hear(1, asked));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].session == node.dialled(5));
    CHECK(onward[0].token.grants.size() == 2);
}

TEST_CASE("ring request: a voter that has been visited before does not vote twice") {
    NodeFixture node = voter();
    CoordinatorToken asked = request_of(node, 5, 5001);
    asked.walk.visited.insert(1);
    const std::vector<Hop> onward = hops(node.hear(1, asked));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.grants.empty());
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("ring request: a stale one collects a refusal and goes on") {
    NodeFixture node = voter();
    const std::vector<Hop> onward = hops(node.hear(5, request_of(node, 5, 4000)));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.nacks ==
          std::vector<TokenNack>{{{2}, NackReason::stale, nobody, {5000}, {}}});
}

TEST_CASE("ring request: a busy voter keeps it for T_hop/3 and refuses then") {
    NodeFixture node = voter();
    node.hear(4, node.renewal(5001));
    CHECK(hops(node.hear(5, request_of(node, 5, 5002))).empty());
    const Duration hold = node.timing().hop_wait / 3;
    CHECK(hops(node.after(hold - Duration{1})).empty());
    const std::vector<Hop> onward = hops(node.after(Duration{1}));
    REQUIRE(onward.size() == 1);
    CHECK(
        onward[0].token.nacks ==
        std::vector<TokenNack>{
            {{2}, NackReason::busy, {4}, {5001}, node.timing().promise(milliseconds(500)) - hold}});
}

TEST_CASE("ring request: a busy voter that becomes free grants at once") {
    NodeFixture node = voter();
    node.hear(4, node.renewal(5001));
    node.hear(5, request_of(node, 5, 5002));
    const std::vector<Hop> onward = hops(node.lose(4));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.grants.size() == 1);
    CHECK(node.view().promised_to == NodeId{5});
}

TEST_CASE("ring request: what is kept gives way to a later token of its owner") {
    NodeFixture node = voter();
    node.hear(4, node.renewal(5001));
    REQUIRE(hops(node.hear(5, request_of(node, 5, 5002))).empty());
    Token later;
    later.walk = node.walk_from(5, {4}, 1, 2);
    node.hear(5, later);
    CHECK(hops(node.after(node.timing().hop_wait)).empty());
}

TEST_CASE("ring request: a voter that waits for its disk grants when it is written") {
    NodeFixture node = voter();
    CHECK(hops(node.hear(5, request_of(node, 5, 9000))).empty());
    const std::vector<Hop> onward = hops(node.persisted());
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.grants.size() == 1);
}

TEST_CASE("ring request: a slow disk is never told as a stale epoch") {
    NodeFixture node = voter();
    node.hear(5, request_of(node, 5, 9000));
    const std::vector<Hop> onward = hops(node.after(node.timing().hop_wait / 3));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.grants.empty());
    for (const TokenNack& nack : onward[0].token.nacks) CHECK(nack.reason != NackReason::stale);
}

TEST_CASE("ring request: a disk that let one request down holds up no other until one is granted") {
    NodeFixture node = voter();
    node.hear(5, request_of(node, 5, 9000));
    node.after(node.timing().hop_wait / 3);
    const std::vector<Hop> onward = hops(node.hear(4, request_of(node, 4, 9500)));
    REQUIRE(onward.size() == 1);
    REQUIRE(onward[0].token.nacks.size() == 1);
    CHECK(onward[0].token.nacks[0].reason == NackReason::recovering);
    while (!only<Persist>(node.persisted()).empty()) {
    }
    CHECK(hops(node.hear(4, request_of(node, 4, 9600, 2)))[0].token.grants.size() == 1);
    CHECK(hops(node.hear(4, request_of(node, 4, 90'000, 3))).empty());
}

TEST_CASE("ring request: what comes round another way takes the place of what is kept") {
    NodeFixture node = voter();
    node.hear(4, node.renewal(5001));
    CoordinatorToken asked = request_of(node, 5, 5002);
    CHECK(hops(node.hear(5, asked)).empty());
    asked.walk.step = 3;
    asked.walk.visited = mask({4, 0});
    asked.walk.path = {4, 0};
    CHECK(hops(node.hear(1, asked)).empty());
    const std::vector<Hop> onward = hops(node.after(node.timing().hop_wait / 3));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.walk.step == 4);
}

// ---- The holder.

/// The first token of node 5 after it has been everywhere.
Token own_token_back(const NodeFixture& node) {
    Token back;
    back.walk.owner = {5};
    back.walk.owner_incarnation = node.own_incarnation();
    back.walk.round = 1;
    back.walk.step = 4;
    back.walk.visited = mask({0, 1, 2, 3, 4});
    back.walk.path = {4};
    return back;
}

/// Node 5, whose own token has come back: a candidate with its request under way.
NodeFixture candidate() {
    NodeFixture node(test::config_for(5, {1, 2, 3, 4, 5}, Algorithm::ring));
    node.recover();
    for (const std::uint64_t peer : {1U, 2U, 3U, 4U}) node.connect(peer);
    node.hear(4, own_token_back(node));
    REQUIRE(node.role() == Role::candidate);
    return node;
}

TEST_CASE("ring request: while a node waits for its own disk no other's request waits with it") {
    NodeFixture node(test::config_for(5, {1, 2, 3, 4, 5}, Algorithm::ring));
    node.recover();
    for (const std::uint64_t peer : {1U, 2U, 3U, 4U}) node.connect(peer);
    CHECK(hops(node.hear(4, request_of(node, 4, 9000))).empty());
    CHECK(hops(node.hear(4, own_token_back(node))).size() == 1);  // it would stand in epoch 9001
    CHECK(node.role() == Role::follower);
    const std::vector<Hop> onward = hops(node.hear(3, request_of(node, 3, 9002)));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].token.nacks.size() == 1);
}

/// The request of that candidate as it comes home with these grants.
CoordinatorToken home(NodeFixture& node, std::vector<std::uint64_t> voters) {
    CoordinatorToken token;
    token.walk.owner = {5};
    token.walk.owner_incarnation = node.own_incarnation();
    token.walk.round = 2;
    token.walk.step = static_cast<std::uint32_t>(voters.size() + 1);
    token.walk.visited = mask({4});
    token.walk.path = {4};
    token.request = {{5001}, node.timing().campaign_lease, node.now(), false, true};
    for (const std::uint64_t voter : voters) {
        token.walk.visited.insert(static_cast<Index>(voter - 1));
        token.grants.push_back({{voter}, node.incarnation_of(voter), node.dialled(voter)});
    }
    return token;
}

TEST_CASE("ring request: home with a majority it makes a leader that renews directly") {
    NodeFixture node = candidate();
    const Actions actions = without_heartbeats(node.hear(2, home(node, {1, 2})));
    CHECK(only<RoleChanged>(actions) == std::vector<RoleChanged>{{Role::leader, {5001}}});
    CHECK(only<StartTask>(actions).size() == 1);
    const Coordinator renewal{{5001}, node.timing().lease, node.now(), true, true};
    CHECK(sent<Coordinator>(actions) ==
          std::vector<Coordinator>{renewal, renewal, renewal, renewal});
}

TEST_CASE("ring request: grants inside a token are counted by the same rules as any other") {
    NodeFixture node = candidate();
    CoordinatorToken token = home(node, {1, 2});
    SUBCASE("the same voter twice") { token.grants[1] = token.grants[0]; }
    SUBCASE("another run of the voter") { token.grants[1].voter_incarnation = {12345}; }
    SUBCASE("a session that is not open") { token.grants[1].tied_session = {99}; }
    SUBCASE("no member") { token.grants[1].voter = {9}; }
    SUBCASE("the holder itself") { token.grants[1] = {{5}, node.own_incarnation(), no_session}; }
    SUBCASE("another epoch") { token.request.epoch = {5000}; }
    SUBCASE("another run of the holder") { token.walk.owner_incarnation = {12345}; }
    node.hear(2, token);
    CHECK(node.role() == Role::candidate);
}

TEST_CASE("ring request: home with too few grants it goes on to the rest") {
    NodeFixture node = candidate();
    const std::vector<Hop> onward = hops(node.hear(1, home(node, {1})));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].session == node.dialled(2));
    CHECK(node.role() == Role::candidate);
}

TEST_CASE("ring request: a grant that did not count when it came home does not count later") {
    NodeFixture node = candidate();
    node.new_incarnation(2);
    CoordinatorToken token = home(node, {1, 2});
    token.grants[1].tied_session = no_session;
    token.walk.visited = mask({0, 1, 3, 4});
    const std::vector<Hop> onward = hops(node.hear(1, token));
    REQUIRE(onward.size() == 1);
    CHECK(onward[0].session == node.dialled(3));
    node.dial(2);                        // its new run answers, and is asked itself
    node.after(node.timing().hop_wait);  // and node 3 has not acknowledged the token
    CHECK(node.role() == Role::candidate);
    node.answer_grant(2);
    CHECK(node.role() == Role::leader);
}

TEST_CASE("ring request: a candidacy that is over is not asked for again when a hop fails") {
    NodeFixture node = candidate();  // node 1 has the token, and has not acknowledged it
    std::size_t again = 0;
    SUBCASE("not over") { again = 1; }
    SUBCASE("won") {
        node.hear(2, home(node, {2, 3}));
        REQUIRE(node.role() == Role::leader);
    }
    SUBCASE("given up") {
        CoordinatorToken token = home(node, {});
        for (const std::uint64_t peer : {2U, 3U, 4U})
            token.nacks.push_back({{peer}, NackReason::busy, {4}, {4999}, milliseconds(100)});
        node.hear(2, token);
        REQUIRE(node.role() == Role::follower);
    }
    CHECK(hops(node.lose(1, SessionEnd::reset)).size() == again);
}

TEST_CASE("ring request: refusals by a majority abandon the candidacy") {
    NodeFixture node = candidate();
    CoordinatorToken token = home(node, {});
    for (const std::uint64_t peer : {1U, 2U, 3U})
        token.nacks.push_back({{peer}, NackReason::busy, {4}, {4999}, milliseconds(100)});
    token.walk.visited = mask({0, 1, 2, 3, 4});
    CHECK(sent<Resign>(node.hear(3, token)).size() == 4);
    CHECK(node.role() == Role::follower);
}

// T2.2
TEST_CASE(
    "ring request: in the pause after a candidacy that failed a worse one's token starts none") {
    NodeFixture node = candidate();
    CoordinatorToken token = home(node, {1});
    for (const std::uint64_t peer : {2U, 3U, 4U})
        token.nacks.push_back({{peer}, NackReason::recovering, nobody, {}, milliseconds(100)});
    token.walk.visited = mask({0, 1, 2, 3, 4});
    node.hear(3, token);
    REQUIRE(node.role() == Role::follower);
    Token worse;
    worse.walk = node.walk_from(1, {0});
    const Actions actions = node.hear(1, worse);
    CHECK(sent<TokenAck>(actions).size() == 1);
    CHECK(sent<Token>(actions).empty());
    CHECK(only<ElectionStarted>(actions).empty());
    CHECK(only<ElectionStarted>(node.after(milliseconds(100))).size() == 1);
}

TEST_CASE("ring request: preemption is off unless it is asked for") {
    Config config = test::config_for(2, {1, 2, 3}, Algorithm::ring);
    CHECK_FALSE(config.preempt);
}

}  // namespace
}  // namespace bullring::protocol::ring_requests_test
