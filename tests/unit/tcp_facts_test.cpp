// Tests the facts on which the release of a lease by FIN rests (PROTOCOL R4, A5), with the
// transport that is shipped: F1 … F8, except F5, which is about child processes. The child is the
// holder, this process the voter.
#include <array>
#include <chrono>
#include <functional>

#include <asio/steady_timer.hpp>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/transport_harness.hpp"

namespace bullring::tcp_facts_test {

TEST_SUITE_BEGIN("realtime");

using namespace bullring::test;
using protocol::NodeId;
using protocol::SessionEnd;

namespace {

constexpr NodeId voter{1};
constexpr NodeId holder{2};

/// A holder as it runs in a node: the real transport dials the voter and then sends a heartbeat
/// every two milliseconds.
void run_holder(const Endpoint& to, const std::function<void()>& when_connected = {}) {
    asio::io_context io(1);
    Host host(io, holder, {{voter, to}});
    asio::steady_timer timer(io);
    protocol::SessionId session;
    bool connected = false;
    std::function<void()> beat = [&] {
        timer.expires_after(std::chrono::milliseconds(2));
        timer.async_wait([&](const asio::error_code&) {
            host.transport.send(session, protocol::Heartbeat{});
            host.transport.flush();
            beat();
        });
    };
    host.recorder.then = [&](const protocol::Event& event) {
        const auto* received = std::get_if<protocol::Receive>(&event);
        if (received == nullptr || connected) return;
        connected = true;
        session = received->session;
        beat();
        if (when_connected) when_connected();
    };
    host.transport.start_dialling();
    io.run();
}

/// The voter's side, with a listener that the child does not keep.
struct Voter {
    Voter() : listener(listen_anywhere()) {}
    Child fork_holder(const std::function<void(const Endpoint&)>& body) {
        return Child([&] {
            listener.fds.clear();
            body(listener.at);
        });
    }
    void listen() { host.transport.listen(std::move(listener.fds)); }
    bool heard(std::size_t heartbeats) {
        return run_until(io, [&] { return host.recorder.heartbeats() >= heartbeats; });
    }
    std::vector<SessionEnd> wait_for_end() {
        run_until(io, [&] { return !host.recorder.all<protocol::SessionEnded>().empty(); });
        std::vector<SessionEnd> ends;
        for (const auto& end : host.recorder.all<protocol::SessionEnded>()) ends.push_back(end.how);
        return ends;
    }

    BoundListener listener;
    asio::io_context io{1};
    Host host{io, voter, {}};
};

const std::vector<SessionEnd> eof{SessionEnd::eof};
const std::vector<SessionEnd> reset{SessionEnd::reset};

}  // namespace

TEST_CASE("F1, F3: kill -9 of a holder that speaks on a one-directional session is always FIN") {
    for (int round = 0; round < 20; ++round) {
        Voter voter_side;
        Child child = voter_side.fork_holder([](const Endpoint& to) { run_holder(to); });
        voter_side.listen();
        REQUIRE(voter_side.heard(2));
        child.kill_now();
        CHECK(voter_side.wait_for_end() == eof);
    }
}

TEST_CASE("F2: kill -9 of a holder that has not read the HELLO_ACK is RST, and reported as one") {
    Voter voter_side;
    Child child = voter_side.fork_holder([](const Endpoint& to) {
        const RawSocket socket = RawSocket::connect(to);
        socket.send(hello_frame(holder));
        while (true) ::pause();
    });
    voter_side.listen();
    REQUIRE(run_until(voter_side.io, [&] {
        return !voter_side.host.recorder.all<protocol::HelloReceived>().empty();
    }));
    child.kill_now();
    CHECK(voter_side.wait_for_end() == reset);
}

TEST_CASE("F4: while a child of the dead holder holds the socket there is no FIN") {
    Voter voter_side;
    std::array<int, 2> pipe_ends{};
    REQUIRE(::pipe(pipe_ends.data()) == 0);
    Child child = voter_side.fork_holder([&](const Endpoint& to) {
        run_holder(to, [&] {
            const pid_t grandchild = ::fork();
            if (grandchild == 0) {
                while (true) ::pause();
            }
            if (::write(pipe_ends[1], &grandchild, sizeof grandchild) < 0) ::_exit(1);
        });
    });
    voter_side.listen();
    REQUIRE(voter_side.heard(2));
    pid_t grandchild = 0;
    REQUIRE(::read(pipe_ends[0], &grandchild, sizeof grandchild) == sizeof grandchild);
    child.kill_now();  // it has been waited for: its files are closed
    voter_side.io.restart();
    voter_side.io.poll();
    CHECK(voter_side.host.recorder.all<protocol::SessionEnded>().empty());
    ::kill(grandchild, SIGKILL);
    CHECK(voter_side.wait_for_end() == eof);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
}

TEST_CASE("F6: shutdown() by a holder that lives looks like its death, so nobody may call it") {
    Voter voter_side;
    const Endpoint at = voter_side.listener.at;
    voter_side.listen();
    const RawSocket socket = RawSocket::connect(at);
    socket.send(hello_frame(holder));
    REQUIRE(run_until(voter_side.io, [&] {
        return !voter_side.host.recorder.all<protocol::HelloReceived>().empty();
    }));
    ::shutdown(socket.fd(), SHUT_WR);
    CHECK(voter_side.wait_for_end() == eof);
}

TEST_CASE(
    "F7: neither a read into a zero-length buffer nor the end of its own close is taken for FIN") {
    Voter voter_side;
    const Endpoint at = voter_side.listener.at;
    voter_side.listen();
    const RawSocket socket = RawSocket::connect(at);
    socket.send(hello_frame(holder));
    const auto hellos = [&] { return voter_side.host.recorder.all<protocol::HelloReceived>(); };
    REQUIRE(run_until(voter_side.io, [&] { return !hellos().empty(); }));
    voter_side.host.transport.close(hellos().front().session);
    CHECK(socket.read_to_end() == 0);
    voter_side.io.restart();
    voter_side.io.poll();
    CHECK(voter_side.host.recorder.all<protocol::SessionEnded>().empty());

    std::array<int, 2> pair{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) == 0);
    const OwnedFd other(pair[1]);
    TcpStream stream(voter_side.io, pair[0]);
    CHECK(stream.read({}).status == IoStatus::would_block);
    stream.close();
    std::array<std::byte, 8> room;
    CHECK(stream.read(room).status == IoStatus::reset);
}

TEST_CASE("F8: a holder that is stopped and then killed is FIN on a one-directional session") {
    Voter voter_side;
    Child child = voter_side.fork_holder([](const Endpoint& to) { run_holder(to); });
    voter_side.listen();
    REQUIRE(voter_side.heard(2));
    child.send_signal(SIGSTOP);
    int status = 0;
    REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
    child.kill_now();
    CHECK(voter_side.wait_for_end() == eof);
}

TEST_CASE(
    "a dialler reads and throws away what an acceptor should not have sent: its death is FIN") {
    BoundListener listener = listen_anywhere();
    Child child([&] {
        const Endpoint at = listener.at;
        listener.fds.clear();
        run_holder(at);
    });
    const RawSocket socket = RawSocket::accept(listener);
    FrameReader reader;
    const auto next_frame = [&] {
        while (true) {
            auto frame = reader.next();
            REQUIRE(frame.has_value());
            if (*frame) return **frame;
            const long count = socket.read_some(reader.prepare());
            REQUIRE(count > 0);
            reader.commit(static_cast<std::size_t>(count));
        }
    };
    REQUIRE(
        std::holds_alternative<protocol::Hello>(std::get<protocol::Message>(next_frame().message)));
    protocol::HelloAck ack;
    ack.id = voter;
    ack.incarnation = incarnation_of(voter);
    socket.send(frame_of(voter, ack));
    next_frame();
    socket.send(std::vector<std::byte>(10'000, std::byte{0x55}));
    // It reads before it beats again, and it has beaten more than once since.
    for (int beats = 0; beats < 20; ++beats) next_frame();
    child.kill_now();
    CHECK(socket.read_to_end() == 0);
}

TEST_SUITE_END();

}  // namespace bullring::tcp_facts_test
