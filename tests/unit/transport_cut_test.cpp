// A node that is cut off from the other members: see src/node/net/transport_cut.cpp.
#include <chrono>

#include <doctest/doctest.h>

#include "tests/support/transport_harness.hpp"

namespace bullring::transport_cut_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using namespace bullring::test;
using Clock = std::chrono::steady_clock;
using protocol::SessionEnd;

constexpr protocol::NodeId holder{2};
constexpr protocol::NodeId voter{1};
constexpr protocol::Duration cut = protocol::milliseconds(100);

struct Pair {
    Pair() {
        acceptor.transport.listen(std::move(listener.fds));
        dialler.transport.start_dialling();
        REQUIRE(run_until(io, [&] { return !dialler.recorder.all<protocol::Receive>().empty(); }));
        session = dialler.recorder.all<protocol::Dialled>().at(0).session;
    }
    void say_something() {
        dialler.transport.send(session, protocol::Heartbeat{});
        dialler.transport.flush();
    }
    bool something_is_heard() {
        return run_until(io, [&] { return acceptor.recorder.heartbeats() == 1; });
    }

    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    Host acceptor{io, voter, {}};
    Host dialler{io, holder, {{voter, listener.at}}};
    protocol::SessionId session;
};

bool over_since(Clock::time_point begin) {
    return Clock::now() - begin >= std::chrono::nanoseconds(cut.ns);
}

}  // namespace

TEST_CASE(
    "transport: what a node says and closes while it is cut off leaves when the cut is over") {
    Pair pair;
    const Clock::time_point begin = Clock::now();
    pair.dialler.transport.cut_off(cut);
    pair.say_something();
    pair.dialler.transport.close(pair.session);
    REQUIRE(pair.something_is_heard());
    CHECK(over_since(begin));
    const auto hello = pair.acceptor.recorder.all<protocol::HelloReceived>().at(0);
    REQUIRE(
        run_until(pair.io, [&] { return !pair.acceptor.recorder.ends(hello.session).empty(); }));
    CHECK(pair.acceptor.recorder.ends(hello.session).front() == SessionEnd::eof);
}

TEST_CASE("transport: what is said to a node while it is cut off is heard when the cut is over") {
    Pair pair;
    const Clock::time_point begin = Clock::now();
    pair.acceptor.transport.cut_off(cut);
    pair.say_something();
    REQUIRE(pair.something_is_heard());
    CHECK(over_since(begin));
    CHECK(pair.acceptor.recorder.all<protocol::SessionEnded>().empty());
    CHECK(pair.dialler.recorder.all<protocol::SessionEnded>().empty());
}

TEST_CASE("transport: a node that is cut off answers observers and no member") {
    Pair pair;
    pair.acceptor.transport.cut_off(protocol::seconds(3600));
    const RawSocket member = RawSocket::connect(pair.listener.at);
    member.send(hello_frame({3}));
    const RawSocket observer = RawSocket::connect(pair.listener.at);
    observer.send(observer_frame(Observe{"blue", ObserveWhat::status, {}}));
    REQUIRE(run_until(pair.io, [&] { return pair.acceptor.recorder.observers.size() == 1; }));
    // The one of the pair alone, although the other came first.
    CHECK(pair.acceptor.recorder.all<protocol::HelloReceived>().size() == 1);
}

TEST_SUITE_END();

}  // namespace bullring::transport_cut_test
