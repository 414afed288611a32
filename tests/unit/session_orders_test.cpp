// Anybody can open sessions in a member's name and say nothing on them. Every order in which three
// sessions of one run open, say something or nothing, and close: the member is heard by what it
// says.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::session_orders_test {
namespace {

using namespace test;

constexpr std::uint64_t peer = 2;
constexpr Index peer_index = 1;

enum class What { opens, speaks, ends };
struct Move {
    What what;
    int session;
};

/// A node to which peer 2 has a session of which it is heard. The others are strangers' that bear
/// its id and incarnation, with a number above or below its own.
class Sessions {
public:
    Sessions() : node_(voter()) {
        node_.recover();
        node_.dial(peer);
    }

    void open(int session) {
        HelloReceived hello = node_.hello_from(peer);
        hello.session = id(session);
        // Session 1 is below session 0, all others are above it.
        hello.hello.session = {static_cast<std::uint64_t>(session == 1 ? 500 : 1000 + session)};
        node_.step(hello);
    }
    void speak(int session) { node_.step(Receive{id(session), node_.heartbeat_from(peer)}); }
    void end(int session, SessionEnd how) { node_.step(SessionEnded{id(session), how}); }
    bool heard() { return node_.view().connected.contains(peer_index); }
    void pass(Duration duration) { node_.after(duration); }
    const Timing& timing() const { return node_.timing(); }

private:
    static Config voter() {
        Config config = test::config_for(1, {1, 2, 3});
        config.priority = Priority::never();
        return config;
    }
    static SessionId id(int session) { return {2100 + static_cast<std::uint64_t>(session)}; }

    NodeFixture node_;
};

/// All the orders of the moves of strangers' sessions 1 and 2, each of which opens before it speaks
/// and ends after it, and may do neither.
void for_each_order(bool strangers_speak,
                    const std::function<void(const std::vector<Move>&)>& try_it) {
    const auto moves_of = [&](int session) {
        std::vector<Move> moves{{What::opens, session}};
        if (strangers_speak) moves.push_back({What::speaks, session});
        moves.push_back({What::ends, session});
        return moves;
    };
    const std::vector<Move> one = moves_of(1);
    const std::vector<Move> two = moves_of(2);
    for (std::size_t of_one = 0; of_one <= one.size(); ++of_one)
        for (std::size_t of_two = 0; of_two <= two.size(); ++of_two) {
            // Which of them moves at each turn.
            std::vector<int> turns(of_one, 1);
            turns.insert(turns.end(), of_two, 2);
            do {
                std::size_t next_one = 0;
                std::size_t next_two = 0;
                std::vector<Move> order;
                for (const int turn : turns)
                    order.push_back(turn == 1 ? one[next_one++] : two[next_two++]);
                try_it(order);
            } while (std::next_permutation(turns.begin(), turns.end()));
        }
}

std::string text(const std::vector<Move>& order) {
    std::string all;
    for (const Move& move : order)
        all += std::string(move.what == What::opens    ? " opens "
                           : move.what == What::speaks ? " speaks "
                                                       : " ends ") +
               std::to_string(move.session);
    return all;
}

void make(Sessions& sessions, const Move& move, SessionEnd how) {
    switch (move.what) {
        case What::opens: return sessions.open(move.session);
        case What::speaks: return sessions.speak(move.session);
        case What::ends: return sessions.end(move.session, how);
    }
}

constexpr SessionEnd ends[] = {SessionEnd::eof, SessionEnd::reset, SessionEnd::timeout,
                               SessionEnd::truncated, SessionEnd::protocol};

TEST_CASE("sessions: silent ones in a member's name never make this node deaf to it") {
    int orders = 0;
    for (const SessionEnd how : ends)
        for_each_order(false, [&](const std::vector<Move>& order) {
            // The member's own session opens before any of the moves.
            for (std::size_t opens_at = 0; opens_at <= order.size(); ++opens_at) {
                CAPTURE(text(order));
                CAPTURE(opens_at);
                Sessions sessions;
                for (std::size_t i = 0; i <= order.size(); ++i) {
                    if (i == opens_at) sessions.open(0);
                    if (i >= opens_at) {
                        sessions.speak(0);
                        CHECK(sessions.heard());
                    }
                    if (i == order.size()) break;
                    make(sessions, order[i], how);
                    if (i >= opens_at) CHECK(sessions.heard());
                }
                ++orders;
            }
        });
    CHECK(orders > 100);
}

TEST_CASE("sessions: a member is heard at once when strangers' sessions end before it has spoken") {
    for (const SessionEnd how : ends)
        for_each_order(false, [&](const std::vector<Move>& order) {
            CAPTURE(text(order));
            Sessions sessions;
            sessions.open(0);
            for (const Move& move : order) make(sessions, move, how);
            sessions.speak(0);
            CHECK(sessions.heard());
        });
}

TEST_CASE("sessions: whatever strangers have said, T_s after it the member is heard again") {
    for (const SessionEnd how : ends)
        for_each_order(true, [&](const std::vector<Move>& order) {
            CAPTURE(text(order));
            Sessions sessions;
            sessions.open(0);
            sessions.speak(0);
            for (const Move& move : order) make(sessions, move, how);
            sessions.pass(sessions.timing().suspect_after);
            sessions.speak(0);
            CHECK(sessions.heard());
        });
}

TEST_CASE("sessions: when its own session has ended, silent ones do not keep a member heard") {
    for (const SessionEnd how : ends)
        for_each_order(false, [&](const std::vector<Move>& order) {
            CAPTURE(text(order));
            Sessions sessions;
            sessions.open(0);
            sessions.speak(0);
            for (const Move& move : order) make(sessions, move, how);
            sessions.end(0, how);
            sessions.pass(sessions.timing().suspect_after);
            CHECK_FALSE(sessions.heard());
        });
}

TEST_CASE("sessions: late words of an older session do not bring back what the end has cleared") {
    Sessions sessions;
    sessions.open(1);
    sessions.speak(1);
    sessions.open(0);
    sessions.speak(0);
    sessions.end(0, SessionEnd::eof);
    CHECK_FALSE(sessions.heard());
    sessions.speak(1);
    CHECK_FALSE(sessions.heard());
    sessions.pass(sessions.timing().suspect_after);
    sessions.speak(1);
    CHECK(sessions.heard());
}

TEST_CASE("sessions: of too many, silent ones are closed first") {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    node.accept(2);
    const SessionId real = node.accepted(2);
    node.step(Receive{real, node.heartbeat_from(2)});
    for (std::size_t i = 0; i < 3 * SessionTable::per_peer_max; ++i)
        for (const CloseSession& closed : only<CloseSession>(node.accept(2)))
            CHECK(closed.session != real);
}

}  // namespace
TEST_CASE("sessions: what a stranger's HELLO says of a member is over when the member speaks") {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    node.connect(peer);
    const SessionId genuine = node.accepted(peer);
    HelloReceived stranger = node.hello_from(peer);
    stranger.session = {2190};
    stranger.hello.session = {1'000'000};
    stranger.hello.lease = node.timing().lease_max + Duration{1};
    stranger.hello.priority = Priority::never();
    for (const bool ends : {false, true}) {
        CAPTURE(ends);
        node.step(stranger);
        if (ends) node.step(SessionEnded{stranger.session, SessionEnd::eof});
        node.pass(milliseconds(1));
        const Coordinator request{{6000}, node.timing().lease, node.now(), true, false};
        CHECK(sent<Nack>(node.step(Receive{genuine, request})).empty());
        stranger.session = {2191};
        stranger.hello.session = {1'000'001};
    }
}

}  // namespace bullring::protocol::session_orders_test
