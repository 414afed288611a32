// Every message of every type at a node in every role, in both algorithms and both quorum modes:
// what comes out is within what that role may do, and the node goes on working.
#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::messages_total_test {
namespace {

using namespace test;

constexpr std::uint64_t self = 3;
constexpr std::size_t message_types = std::variant_size_v<Message>;

enum class Condition { follower, candidate, leader, stepping_down, recovering };
const char* name(Condition condition) {
    constexpr const char* names[] = {"follower", "candidate", "leader", "stepping_down",
                                     "recovering"};
    return names[static_cast<int>(condition)];
}

Role role_of(Condition condition) {
    switch (condition) {
        case Condition::candidate: return Role::candidate;
        case Condition::leader: return Role::leader;
        case Condition::stepping_down: return Role::stepping_down;
        default: return Role::follower;
    }
}

/// Ring: its own token, or its own request, comes home from every node.
void bring_home(NodeFixture& node, const Actions& actions) {
    for (const Token& sent_token : sent<Token>(actions)) {
        Token token = sent_token;
        token.walk.step += 5;
        for (Index i = 0; i < node.config().members.size(); ++i) token.walk.visited.insert(i);
        node.hear(1, token);
    }
}

void elect(NodeFixture& node) {
    for (const std::uint64_t peer : {1U, 2U})
        node.hear(peer, Grant{node.own_incarnation(),
                              {5001},
                              node.timing().campaign_lease,
                              node.now(),
                              no_session,
                              node.incarnation_of(peer)});
    for (const std::uint64_t peer : {1U, 2U})
        node.hear(peer, Grant{node.own_incarnation(),
                              {5001},
                              node.timing().lease,
                              node.now(),
                              no_session,
                              node.incarnation_of(peer)});
}

/// Node 3 of {1, …, 5} in the wanted condition, with 1, 2 and 4 connected. nullopt: there is no
/// such thing (a candidate or a silence without a quorum).
std::optional<NodeFixture> node_in(Condition condition, Algorithm algorithm, QuorumMode quorum) {
    Config config = test::config_for(self, {1, 2, 3, 4, 5}, algorithm);
    config.quorum = quorum;
    if (condition == Condition::follower) config.priority = Priority::never();
    const bool textbook = quorum == QuorumMode::none;
    if (textbook && (condition == Condition::candidate || condition == Condition::recovering))
        return std::nullopt;
    NodeFixture node(config);
    node.disk_answers(true);
    if (condition != Condition::recovering && !textbook) node.recover();
    HelloReceived four = node.hello_from(4);
    four.hello.priority = {-5};  // so that nobody higher is connected
    node.accept(four);
    node.dial(4);
    node.hear_heartbeat(4);
    Actions actions = node.connect(1);
    test::append(actions, node.connect(2));
    if (condition == Condition::follower || condition == Condition::recovering) return node;
    if (textbook) test::append(actions, node.run(node.timing().suspect_after));
    bring_home(node, actions);
    if (condition == Condition::candidate) return node;
    if (!textbook) elect(node);
    if (condition == Condition::stepping_down) node.step(ResignRequested{{1}, {}});
    return node;
}

Walk walk_of(NodeFixture& node, std::uint64_t owner, std::uint32_t step) {
    Walk walk;
    walk.owner = {owner};
    walk.owner_incarnation = owner == self ? node.own_incarnation() : node.incarnation_of(owner);
    walk.round = 1;
    walk.step = step;
    walk.visited.insert(0);
    walk.path = {0};
    return walk;
}

void add_requests(std::vector<Message>& all, NodeFixture& node) {
    for (const std::uint64_t epoch : {0ULL, 4000ULL, 5001ULL, 5002ULL, 9'000'000ULL})
        for (const bool renew : {false, true})
            for (const Duration lease : {milliseconds(250), seconds(3), seconds(100)}) {
                const Coordinator request{{epoch}, lease, node.now(), renew, true};
                all.emplace_back(request);
                CoordinatorToken token{walk_of(node, renew ? 1 : 2, 4), request, {}, {}};
                token.walk.round = epoch;
                all.emplace_back(token);
                token.walk.owner = {self};
                token.walk.owner_incarnation = node.own_incarnation();
                token.grants = {{{1}, node.incarnation_of(1), no_session}, {{9}, {}, {}}};
                token.nacks = {{{2}, NackReason::stale, {1}, {5003}, seconds(1)}};
                all.emplace_back(token);
            }
}

/// Several messages of each type: what fits, what is stale, and what is nonsense.
std::vector<Message> messages(NodeFixture& node) {
    std::vector<Message> all{node.hello_from(1).hello, node.ack_from(1), Refused{"id", "1", "2"}};
    for (const std::uint64_t leader : {0U, 1U, 2U, 3U, 4U, 9U}) {
        Heartbeat heartbeat = node.heartbeat_from(1);
        heartbeat.leader = {leader};
        heartbeat.leader_epoch = {5000 + leader};
        heartbeat.leader_announced = leader % 2 == 0;
        heartbeat.leader_remaining = milliseconds(300);
        heartbeat.max_seen = {5100};
        heartbeat.heard = MemberSet(leader == 9 ? ~std::uint64_t{0} : 0);
        heartbeat.stepping_down = leader == 1;
        all.emplace_back(heartbeat);
        all.emplace_back(LeaderIs{1, {leader}, {5000}, milliseconds(300)});
        all.emplace_back(Resign{{5001}, {leader}});
        all.emplace_back(Resign{{4000 + leader}, {leader}});
    }
    for (const std::uint64_t attempt : {0ULL, 1ULL, 2ULL, ~0ULL}) {
        all.emplace_back(Election{attempt});
        all.emplace_back(Ok{attempt});
        all.emplace_back(Decline{attempt});
    }
    add_requests(all, node);
    for (const std::uint64_t epoch : {5000U, 5001U, 5002U}) {
        for (const int reason : {1, 2, 3, 4, 5})
            for (const std::uint64_t holder : {0U, 2U, 3U, 9U})
                all.emplace_back(Nack{node.own_incarnation(),
                                      {epoch},
                                      static_cast<NackReason>(reason),
                                      {holder},
                                      {5003},
                                      milliseconds(100),
                                      holder == 2});
        all.emplace_back(Grant{node.own_incarnation(),
                               {epoch},
                               node.timing().campaign_lease,
                               node.now(),
                               no_session,
                               node.incarnation_of(1)});
        all.emplace_back(Grant{{1}, {epoch}, seconds(1), node.now(), {77}, {}});
    }
    for (const std::uint64_t owner : {1U, 2U, 3U, 4U, 5U, 9U})
        for (const std::uint32_t step : {1U, 5U, 12U, 4'000'000'000U}) {
            all.emplace_back(Token{walk_of(node, owner, step), {}, {5100}});
            all.emplace_back(TokenAck{{owner}, node.incarnation_of(owner), 1, step});
        }
    return all;
}

/// No message may bring this about in that condition.
void check_answer(NodeFixture& node, Condition condition, QuorumMode quorum,
                  const Actions& actions) {
    const bool textbook = quorum == QuorumMode::none;
    for (const Send& send : only<Send>(actions)) {
        const bool to_somebody = send.session == node.dialled(1) ||
                                 send.session == node.dialled(2) || send.session == node.dialled(4);
        CHECK(to_somebody);
    }
    CHECK(only<CloseSession>(actions).empty());
    CHECK(only<Stopped>(actions).empty());
    CHECK(only<ResignAnswer>(actions).empty());
    if (condition == Condition::leader && !textbook) CHECK(node.role() == Role::leader);
    if (condition == Condition::stepping_down) CHECK(node.role() == Role::stepping_down);
    if (condition == Condition::stepping_down || condition == Condition::recovering ||
        condition == Condition::follower) {
        CHECK(only<StartTask>(actions).empty());
        CHECK(only<RoleChanged>(actions).empty());
    }
    if (condition == Condition::recovering) CHECK(sent<Grant>(actions).empty());
    if (condition == Condition::recovering) CHECK(node.view().promised_to == nobody);
    if (condition == Condition::leader && !textbook) {
        CHECK(sent<Grant>(actions).empty());
        CHECK(node.view().promised_to == NodeId{self});
        CHECK(node.view().leader == NodeId{self});
    }
    CHECK(node.node().until_wake(node.now()) > Duration{0});
}

template <class Check>
void for_each_condition(Check&& check) {
    for (const Algorithm algorithm : {Algorithm::bully, Algorithm::ring})
        for (const QuorumMode quorum : {QuorumMode::majority, QuorumMode::none})
            for (const Condition condition :
                 {Condition::follower, Condition::candidate, Condition::leader,
                  Condition::stepping_down, Condition::recovering}) {
                const std::optional<NodeFixture> node = node_in(condition, algorithm, quorum);
                if (!node) continue;
                CAPTURE(algorithm == Algorithm::bully);
                CAPTURE(quorum == QuorumMode::majority);
                CAPTURE(std::string(name(condition)));
                check(*node, condition, quorum);
            }
}

TEST_CASE("messages: the table below begins in each of the conditions that it names") {
    int conditions = 0;
    for_each_condition([&](NodeFixture node, Condition condition, QuorumMode) {
        CHECK(node.role() == role_of(condition));
        CHECK(node.view().recovering == (condition == Condition::recovering));
        ++conditions;
    });
    CHECK(conditions == 16);
}

TEST_CASE("messages: the table below has messages of every type") {
    std::optional<NodeFixture> node =
        node_in(Condition::follower, Algorithm::bully, QuorumMode::majority);
    std::vector<bool> seen(message_types);
    for (const Message& message : messages(*node)) seen[message.index()] = true;
    CHECK(std::all_of(seen.begin(), seen.end(), [](bool type) { return type; }));
}

TEST_CASE("messages: every message at every role does something defined") {
    for_each_condition([](const NodeFixture& start, Condition condition, QuorumMode quorum) {
        NodeFixture script = start;
        for (const Message& message : messages(script)) {
            CAPTURE(test::text(message));
            NodeFixture node = start;
            node.disk_answers(false);
            check_answer(node, condition, quorum, node.hear(1, message));
        }
    });
}

TEST_CASE("messages: on a dialled session, and on none that there is, nothing is taken in") {
    for_each_condition([](const NodeFixture& start, Condition, QuorumMode) {
        NodeFixture script = start;
        NodeFixture without = start;
        without.wake();
        for (const SessionId session : {start.dialled(1), SessionId{424242}})
            for (const Message& message : messages(script)) {
                CAPTURE(test::text(message));
                NodeFixture with = start;
                with.step(Receive{session, message});
                CHECK(with.node() == without.node());
            }
    });
}

}  // namespace
}  // namespace bullring::protocol::messages_total_test
