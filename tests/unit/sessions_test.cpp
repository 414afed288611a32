// The dialler's close rule (§3, I9): a session to which a counted grant is tied is not closed.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::sessions_test {
namespace {

using namespace test;

constexpr Epoch epoch{5001};

NodeFixture leader() {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    return node;
}
std::vector<SessionId> closed(const Actions& actions) {
    std::vector<SessionId> sessions;
    for (const CloseSession& close : only<CloseSession>(actions)) sessions.push_back(close.session);
    return sessions;
}

// S1.1
TEST_CASE("close rule: a replaced session lingers until the grant that is tied to it is over") {
    NodeFixture node = leader();
    const SessionId older = node.dialled(1);
    const Instant tied_until = node.now() + node.timing().lease;
    Actions actions = node.dial(1);
    CHECK(closed(actions).empty());
    // Keep the leadership through node 2; node 1's grant runs out.
    while (node.now() != tied_until - Duration{1}) {
        const Duration left = lease_left(node.now(), tied_until - Duration{1});
        node.pass(std::min(left, node.timing().heartbeat));
        actions = node.hear_heartbeat(2);
        test::append(actions, node.answer_grant(2));
        CHECK(closed(actions).empty());
    }
    CHECK(closed(node.after(Duration{1})) == std::vector<SessionId>{older});
    CHECK(node.role() == Role::leader);
}

TEST_CASE("close rule: once the newer session has a later grant the older one may go") {
    NodeFixture node = leader();
    const SessionId older = node.dialled(1);
    node.dial(1);
    node.pass(node.timing().heartbeat);
    node.wake();
    CHECK(closed(node.answer_grant(1)) == std::vector<SessionId>{older});
}

TEST_CASE("close rule: a session whose other end has closed it, or whose outbox is full, lingers") {
    for (const SessionEnd how :
         {SessionEnd::eof, SessionEnd::overflow, SessionEnd::protocol, SessionEnd::timeout}) {
        NodeFixture node = leader();
        const SessionId tied = node.dialled(1);
        CHECK(closed(node.step(SessionEnded{tied, how})).empty());
        // Nothing more is sent on it.
        for (const Send& send : only<Send>(node.after(node.timing().heartbeat)))
            CHECK(send.session != tied);
    }
}

// S1.2
TEST_CASE("close rule: a socket in an error state is closed: it can send no FIN any more") {
    NodeFixture node = leader();
    CHECK(closed(node.step(SessionEnded{node.dialled(1), SessionEnd::reset})) ==
          std::vector<SessionId>{node.dialled(1)});
    CHECK(node.role() == Role::leader);
}

// S1.2
TEST_CASE("close rule: a session on which no answer to HELLO came is closed, however it ended") {
    for (const SessionEnd how : {SessionEnd::eof, SessionEnd::reset, SessionEnd::timeout,
                                 SessionEnd::protocol, SessionEnd::overflow}) {
        NodeFixture node = leader();
        node.step(Dialled{{1}, {1900}, {}});
        CHECK(closed(node.step(SessionEnded{{1900}, how})) == std::vector<SessionId>{{1900}});
    }
}

TEST_CASE(
    "close rule: the grant of a lost session stays counted, a later one tied to it does not") {
    NodeFixture node = leader();
    const Instant end = node.now() + node.timing().lease;
    node.lose(2);
    node.pass(node.timing().heartbeat);
    node.wake();
    const Grant renewed = node.grant_from(1);
    node.step(SessionEnded{node.dialled(1), SessionEnd::reset});
    CHECK(only<Publish>(node.hear(1, renewed)).empty());
    node.set_clock(end - Duration{1});
    node.wake();
    CHECK(node.role() == Role::leader);
    node.after(Duration{1});
    CHECK(node.role() == Role::stepping_down);
}

TEST_CASE("close rule: a lingering session still carries the grants that are tied to it") {
    NodeFixture node = leader();
    node.pass(node.timing().heartbeat);
    node.wake();
    const Grant renewed = node.grant_from(1);
    node.step(SessionEnded{node.dialled(1), SessionEnd::eof});
    CHECK(only_one<Publish>(node.hear(1, renewed)).deadline == renewed.stamp + renewed.lease);
}

// S1.1
TEST_CASE("close rule: a follower's sessions are closed at once") {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    node.connect(2);
    const SessionId older = node.dialled(2);
    CHECK(closed(node.dial(2)) == std::vector<SessionId>{older});
    CHECK(closed(node.step(SessionEnded{node.dialled(2), SessionEnd::eof})) ==
          std::vector<SessionId>{node.dialled(2)});
}

// S1.1
TEST_CASE("close rule: a candidate's session with a counted grant lingers, one without does not") {
    NodeFixture node(test::config_for(5, {1, 2, 3, 4, 5}));
    node.stand({1, 2, 3});
    node.answer_grant(1);
    CHECK(closed(node.step(SessionEnded{node.dialled(1), SessionEnd::eof})).empty());
    CHECK(closed(node.step(SessionEnded{node.dialled(2), SessionEnd::eof})) ==
          std::vector<SessionId>{node.dialled(2)});
    // After the candidacy is given up nothing binds it.
    CHECK(closed(node.after(node.timing().campaign_wait)) ==
          std::vector<SessionId>{node.dialled(1)});
}

TEST_CASE("close rule: its host is woken to close what lingers") {
    NodeFixture node = leader();
    const SessionId older = node.dialled(1);
    node.dial(1);
    const Instant end = node.now() + node.timing().lease;
    std::vector<SessionId> gone;
    for (int wakes = 0; wakes < 200 && gone.empty(); ++wakes) {
        node.pass(node.node().until_wake(node.now()));
        Actions actions = node.hear_heartbeat(2);
        test::append(actions, node.answer_grant(2));
        gone = closed(actions);
    }
    CHECK(gone == std::vector<SessionId>{older});
    CHECK(node.now() == end);
}

TEST_CASE("close rule: an accepted session is never closed by the protocol once it is accepted") {
    NodeFixture node = leader();
    const SessionId from_peer = node.accepted(1);
    Actions actions = node.run_granted(seconds(2));
    test::append(actions, node.accept(1));
    test::append(actions, node.step(StopRequested{}));
    test::append(actions, node.step(TaskEnded{epoch}));
    for (const SessionId session : closed(actions)) CHECK(session != from_peer);
}

}  // namespace
}  // namespace bullring::protocol::sessions_test
