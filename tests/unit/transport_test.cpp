#include "src/node/net/transport.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <dirent.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "tests/support/dead_names.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::transport_test {

TEST_SUITE_BEGIN("realtime");

using namespace bullring::test;
using protocol::NodeId;
using protocol::SessionEnd;

namespace {

constexpr NodeId voter{1};
constexpr NodeId holder{2};

template <typename What>
bool has_one(const Host& host) {
    return !host.recorder.all<What>().empty();
}

std::set<int> open_descriptors() {
    std::set<int> found;
    DIR* directory = ::opendir("/proc/self/fd");
    const int own = ::dirfd(directory);
    while (const dirent* entry = ::readdir(directory)) {
        if (entry->d_name[0] == '.') continue;
        const int fd = std::atoi(entry->d_name);
        if (fd != own) found.insert(fd);
    }
    ::closedir(directory);
    return found;
}

/// The voter listens; the test speaks to it with bare sockets.
struct Listening {
    explicit Listening(const std::function<void(TransportOptions&)>& change = {})
        : host(io, voter, {}, change) {
        host.transport.listen(std::move(listener.fds));
    }
    RawSocket greeted(NodeId sender) {
        RawSocket socket = RawSocket::connect(listener.at);
        const std::size_t before = host.recorder.all<protocol::HelloReceived>().size();
        socket.send(hello_frame(sender));
        REQUIRE(run_until(
            io, [&] { return host.recorder.all<protocol::HelloReceived>().size() > before; }));
        return socket;
    }
    protocol::SessionId last_session() const {
        return host.recorder.all<protocol::HelloReceived>().back().session;
    }
    bool wait_for_end() {
        return run_until(io, [&] { return has_one<protocol::SessionEnded>(host); });
    }

    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    Host host;
};

/// A holder that dials a listener, in one loop with it.
struct Pair {
    explicit Pair(const std::string& host_name = "127.0.0.1",
                  const std::function<void(TransportOptions&)>& change = {})
        : listener(listen_anywhere(host_name)),
          acceptor(io, voter, {}),
          dialler(io, holder, {{voter, listener.at}}, change) {}
    void connect() {
        acceptor.transport.listen(std::move(listener.fds));
        dialler.transport.start_dialling();
    }
    bool established() {
        return run_until(io, [&] { return has_one<protocol::Receive>(dialler); });
    }

    asio::io_context io{1};
    BoundListener listener;
    Host acceptor;
    Host dialler;
};

}  // namespace

TEST_CASE("transport: a handshake over IPv4, IPv6 or a name agrees on both addresses") {
    for (const std::string name : {"127.0.0.1", "::1", "localhost"}) {
        CAPTURE(name);
        Pair pair(name);
        pair.connect();
        REQUIRE(pair.established());
        const auto dialled = pair.dialler.recorder.all<protocol::Dialled>().at(0);
        const auto hello = pair.acceptor.recorder.all<protocol::HelloReceived>().at(0);
        CHECK(dialled.peer == voter);
        CHECK(dialled.addresses.local == hello.addresses.remote);
        CHECK(dialled.addresses.remote == hello.addresses.local);
        CHECK(hello.hello.id == holder);
        CHECK(hello.hello.session == dialled.session);
    }
}

TEST_CASE("transport: an IPv4 peer of a listener on [::] has an IPv4 address") {
    asio::io_context io(1);
    BoundListener listener = listen_anywhere("::");
    Host acceptor(io, voter, {});
    acceptor.transport.listen(std::move(listener.fds));
    Host dialler(io, holder, {{voter, {"127.0.0.1", listener.at.port}}});
    dialler.transport.start_dialling();
    REQUIRE(run_until(io, [&] { return has_one<protocol::Receive>(dialler); }));
    const auto dialled = dialler.recorder.all<protocol::Dialled>().at(0);
    const auto hello = acceptor.recorder.all<protocol::HelloReceived>().at(0);
    CHECK(dialled.addresses.local == hello.addresses.remote);
    CHECK(dialled.addresses.remote == hello.addresses.local);
}

TEST_CASE("transport: the end of a session is told after all that was sent before it") {
    Listening voter_side;
    RawSocket socket = voter_side.greeted(holder);
    std::vector<std::byte> bytes;
    for (int i = 0; i < 500; ++i) {
        const auto frame = frame_of(holder, protocol::Heartbeat{});
        bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    std::array<std::byte, 1024> ack;
    REQUIRE(socket.read_some(ack) > 0);
    socket.send(bytes);
    socket.close();
    REQUIRE(voter_side.wait_for_end());
    CHECK(voter_side.host.recorder.heartbeats() == 500);
    CHECK(std::get<protocol::SessionEnded>(voter_side.host.recorder.events.back()).how ==
          SessionEnd::eof);
}

TEST_CASE(
    "transport: whoever speaks in another's name loses its connection, and nobody else does") {
    Listening voter_side;
    const RawSocket good = voter_side.greeted(NodeId{3});
    const RawSocket bad = voter_side.greeted(holder);
    const auto bad_session = voter_side.last_session();
    bad.send(frame_of(NodeId{3}, protocol::Heartbeat{}));
    REQUIRE(voter_side.wait_for_end());
    CHECK(voter_side.host.recorder.ends(bad_session) ==
          std::vector<SessionEnd>{SessionEnd::protocol});
    CHECK(voter_side.host.recorder.heartbeats() == 0);
    good.send(frame_of(NodeId{3}, protocol::Heartbeat{}));
    CHECK(run_until(voter_side.io, [&] { return voter_side.host.recorder.heartbeats() == 1; }));
}

TEST_CASE("transport: rubbish, a second HELLO and a message before HELLO end the connection") {
    Listening voter_side;
    const RawSocket rubbish = RawSocket::connect(voter_side.listener.at);
    rubbish.send(std::vector<std::byte>(64, std::byte{0x7f}));
    const RawSocket early = RawSocket::connect(voter_side.listener.at);
    early.send(frame_of(holder, protocol::Heartbeat{}));
    const RawSocket twice = voter_side.greeted(holder);
    twice.send(hello_frame(holder));
    REQUIRE(voter_side.wait_for_end());
    CHECK(rubbish.read_to_end() == 0);
    CHECK(early.read_to_end() == 0);
    CHECK(twice.read_to_end() == 0);
    CHECK(voter_side.host.recorder.all<protocol::SessionEnded>().size() == 1);
    CHECK(voter_side.host.recorder.all<protocol::HelloReceived>().size() == 1);
}

TEST_CASE("transport: a connection that says nothing is closed after the handshake's time") {
    Listening voter_side(
        [](TransportOptions& options) { options.handshake_max = protocol::milliseconds(30); });
    const RawSocket silent = RawSocket::connect(voter_side.listener.at);
    std::array<std::byte, 8> room;
    REQUIRE(run_until(voter_side.io, [&] {
        return ::recv(silent.fd(), room.data(), room.size(), MSG_DONTWAIT) == 0;
    }));
    CHECK(voter_side.host.recorder.events.empty());
}

TEST_CASE("transport: a crowd of silent connections does not keep a member out") {
    Listening voter_side([](TransportOptions& options) { options.unauthenticated_max = 8; });
    std::vector<RawSocket> silent;
    for (int i = 0; i < 20; ++i) silent.push_back(RawSocket::connect(voter_side.listener.at));
    const RawSocket member = voter_side.greeted(holder);
    std::array<std::byte, 1024> ack;
    REQUIRE(run_until(voter_side.io, [&] {
        return ::recv(member.fd(), ack.data(), ack.size(), MSG_DONTWAIT) > 0;
    }));
    CHECK(silent.front().read_to_end() == 0);
    CHECK(::recv(silent.back().fd(), ack.data(), ack.size(), MSG_DONTWAIT) == -1);
}

TEST_CASE("transport: a peer that comes back is dialled at once when it is told so") {
    asio::io_context io(1);
    BoundListener listener = listen_anywhere();
    const Endpoint at = listener.at;
    listener.fds.clear();  // nobody is there yet
    Host dialler(io, holder, {{voter, at}}, [](TransportOptions& options) {
        options.dial.pause_min = protocol::seconds(3600);
        options.dial.pause_max = protocol::seconds(3600);
    });
    dialler.transport.start_dialling();
    io.run_one();
    io.poll();
    auto again = tcp::listen_on(at).value();
    Host acceptor(io, voter, {});
    acceptor.transport.listen(std::move(again));
    dialler.transport.dial_now(voter, {});
    CHECK(run_until(io, [&] { return has_one<protocol::Receive>(dialler); }));
}

TEST_CASE("transport: a name for which no resolver answers keeps no other name waiting") {
    const DeadNames dead(".dead");
    asio::io_context io(1);
    BoundListener listener = listen_anywhere("localhost");
    Host acceptor(io, NodeId{3}, {});
    Host dialler(io, holder, {{voter, {"member.dead", 1}}, {NodeId{3}, listener.at}});
    acceptor.transport.listen(std::move(listener.fds));
    dialler.transport.start_dialling();
    CHECK(run_until(io, [&] { return has_one<protocol::Receive>(dialler); }));
}

TEST_CASE("transport: where the resolver does not answer the last answer is dialled at once") {
    Pair pair("localhost");
    pair.connect();
    REQUIRE(pair.established());
    const DeadNames all("");
    // Time is what is tested: both timer and dialler stand in this one loop.
    asio::steady_timer late(pair.io, std::chrono::seconds(1));
    bool is_late = false;
    late.async_wait([&](const asio::error_code&) { is_late = true; });
    pair.acceptor.transport.close(
        pair.acceptor.recorder.all<protocol::HelloReceived>().at(0).session);
    REQUIRE(run_until(pair.io, [&] {
        return pair.dialler.recorder.all<protocol::Receive>().size() == 2 || is_late;
    }));
    CHECK_FALSE(is_late);
}

TEST_CASE("transport: a loop ends while the resolver is still asked") {
    const DeadNames all("");
    asio::io_context io(1);
    Host dialler(io, holder, {{voter, {"member.dead", 1}}});
    dialler.transport.start_dialling();
    io.poll();
    dialler.transport.stop();
    io.restart();
    io.run();
    CHECK(dialler.recorder.events.empty());
}

TEST_CASE("transport: a frame that never comes to its end, by a damaged length, ends the session") {
    Listening voter_side(
        [](TransportOptions& options) { options.unacknowledged_max = protocol::milliseconds(30); });
    const RawSocket socket = voter_side.greeted(holder);
    const auto session = voter_side.last_session();
    auto damaged = frame_of(holder, protocol::Heartbeat{});
    damaged[2] ^= std::byte{0x10};
    socket.send(damaged);
    REQUIRE(voter_side.wait_for_end());
    CHECK(voter_side.host.recorder.ends(session) == std::vector<SessionEnd>{SessionEnd::protocol});
}

TEST_CASE("transport: a frame of an earlier version of the wire ends the connection") {
    Listening voter_side;
    const RawSocket socket = RawSocket::connect(voter_side.listener.at);
    auto old = hello_frame(holder);
    old[5] = std::byte{1};
    socket.send(old);
    char byte = 0;
    REQUIRE(
        run_until(voter_side.io, [&] { return ::recv(socket.fd(), &byte, 1, MSG_DONTWAIT) == 0; }));
    CHECK(voter_side.host.recorder.events.empty());
}

TEST_CASE(
    "transport: a refusal tells its reason to members' hosts, and to others the version only") {
    const protocol::Refused reason{"cluster", "secret", "guess"};
    const protocol::Refused version{"version", "2-2", "1-1"};
    struct Case {
        const char* from;
        protocol::Refused refused;
        protocol::Refused told;
    };
    const Case cases[] = {
        {"127.0.0.1", reason, reason},  // the node's own host
        {"127.0.0.3", reason, reason},  // that of a member
        {"127.0.0.2", reason, {"address", "", "127.0.0.2"}},
        {"127.0.0.2", version, version},
    };
    for (const Case& one : cases) {
        CAPTURE(one.from);
        asio::io_context io(1);
        BoundListener listener = listen_anywhere();
        Host host(io, voter, {{holder, {"127.0.0.3", 1}}});
        host.recorder.refuse = true;
        host.recorder.refusal = one.refused;
        host.transport.listen(std::move(listener.fds));
        host.transport.start_dialling();
        io.poll();
        const RawSocket socket = RawSocket::connect(listener.at, 0, one.from);
        socket.send(hello_frame(holder));
        FrameReader reader;
        std::optional<Frame> answer;
        REQUIRE(run_until(io, [&] {
            const auto room = reader.prepare();
            const ssize_t count = ::recv(socket.fd(), room.data(), room.size(), MSG_DONTWAIT);
            if (count > 0) reader.commit(static_cast<std::size_t>(count));
            auto frame = reader.next().value();
            answer = std::move(frame);
            return answer.has_value();
        }));
        CHECK(std::get<protocol::Refused>(std::get<protocol::Message>(answer->message)) ==
              one.told);
    }
}

TEST_CASE("transport: HELLO_ACK is written in the version that it says, and HELLO in the lowest") {
    for (const std::uint16_t version : {protocol::version_lowest, protocol::version_highest}) {
        CAPTURE(version);
        Listening voter_side;
        voter_side.host.recorder.version = version;
        const RawSocket socket = RawSocket::connect(voter_side.listener.at);
        socket.send(hello_frame(holder));
        std::vector<std::byte> answer;
        REQUIRE(run_until(voter_side.io, [&] {
            std::array<std::byte, 4096> bytes;
            const ssize_t count = ::recv(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (count > 0) answer.insert(answer.end(), bytes.begin(), bytes.begin() + count);
            return !answer.empty();
        }));
        const auto frame = decode(answer).value();
        const auto& message = std::get<protocol::Message>(frame.message);
        CHECK(std::get<protocol::HelloAck>(message).version == version);
        std::vector<std::byte> written;
        encode(frame.sender, message, version, written);
        CHECK(written == answer);
    }
}

TEST_CASE("transport: where the last descriptors are reserved a member's host takes a stranger's") {
    bool full = false;
    Listening voter_side([&](TransportOptions& options) {
        options.peers = {{holder, {"127.0.0.3", 1}}};
        options.is_reserved = [&](int, std::size_t) { return full; };
    });
    const RawSocket silent = RawSocket::connect(voter_side.listener.at, 0, "127.0.0.2");
    const auto closed = [&](const RawSocket& socket) {
        char byte = 0;
        return ::recv(socket.fd(), &byte, 1, MSG_DONTWAIT) == 0;
    };
    const RawSocket own = voter_side.greeted(NodeId{3});
    full = true;
    const RawSocket late = RawSocket::connect(voter_side.listener.at, 0, "127.0.0.2");
    REQUIRE(run_until(voter_side.io, [&] { return closed(late); }));
    CHECK_FALSE(closed(silent));
    // One from the member's host that says nothing yet may be the member itself.
    const RawSocket early = RawSocket::connect(voter_side.listener.at, 0, "127.0.0.3");
    REQUIRE(run_until(voter_side.io, [&] { return closed(silent); }));
    // There is no stranger left to be given up, and the member is let in nevertheless.
    const RawSocket member = voter_side.greeted(holder);
    CHECK_FALSE(closed(early));
}

TEST_CASE("transport: after a peer's death, and after a refusal, it is dialled again") {
    Pair pair("127.0.0.1", [](TransportOptions& options) {
        options.dial.refused_pause_max = protocol::milliseconds(5);
    });
    pair.acceptor.recorder.refuse = true;
    pair.dialler.recorder.then = [&](const protocol::Event& event) {
        const auto* received = std::get_if<protocol::Receive>(&event);
        if (received == nullptr) return;
        if (std::holds_alternative<protocol::Refused>(received->message)) {
            pair.acceptor.recorder.refuse = false;
            pair.dialler.transport.close(received->session);
        }
    };
    pair.connect();
    const auto received = [&] { return pair.dialler.recorder.all<protocol::Receive>(); };
    REQUIRE(run_until(pair.io, [&] { return received().size() == 2; }));
    CHECK(std::holds_alternative<protocol::HelloAck>(received()[1].message));
    // The acceptor's close is what its death looks like. The dialled socket stays open until the
    // node says so; the next one does not wait for that.
    pair.acceptor.transport.close(
        pair.acceptor.recorder.all<protocol::HelloReceived>().back().session);
    REQUIRE(run_until(pair.io, [&] { return received().size() == 3; }));
    CHECK(pair.dialler.recorder.ends(received()[1].session) ==
          std::vector<SessionEnd>{SessionEnd::eof});
}

TEST_CASE(
    "transport: an overflowing session is told once, stays open, and loses nothing of before") {
    asio::io_context io(1);
    BoundListener listener = listen_anywhere();
    Host dialler(io, holder, {{voter, listener.at}}, [](TransportOptions& options) {
        options.unacknowledged_max = protocol::seconds(60);  // nothing is read for a while
    });
    dialler.transport.start_dialling();
    REQUIRE(run_until(io, [&] { return has_one<protocol::Dialled>(dialler); }));
    const auto session = dialler.recorder.all<protocol::Dialled>().at(0).session;
    const RawSocket socket = RawSocket::accept(listener);
    protocol::HelloAck ack;
    ack.id = voter;
    ack.incarnation = incarnation_of(voter);
    socket.send(frame_of(voter, ack));
    REQUIRE(run_until(io, [&] { return has_one<protocol::Receive>(dialler); }));

    std::uint64_t sent = 0;
    while (dialler.recorder.ends(session).empty()) {
        dialler.transport.send(session, protocol::Election{++sent});
        dialler.transport.flush();
    }
    dialler.transport.send(session, protocol::Election{++sent});
    CHECK(dialler.recorder.ends(session) == std::vector<SessionEnd>{SessionEnd::overflow});
    dialler.transport.close(session);

    FrameReader reader;
    std::uint64_t seen = 0;
    bool at_end = false;
    REQUIRE(run_until(io, [&] {
        while (!at_end) {
            const auto room = reader.prepare();
            const ssize_t count = ::recv(socket.fd(), room.data(), room.size(), MSG_DONTWAIT);
            if (count < 0) return false;
            at_end = count == 0;
            reader.commit(static_cast<std::size_t>(count));
            for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
                const auto& message = std::get<protocol::Message>((*frame)->message);
                const auto* election = std::get_if<protocol::Election>(&message);
                if (election != nullptr && election->attempt == seen + 1) ++seen;
            }
        }
        return true;
    }));
    CHECK(seen == sent - 2);  // all but the one that had no room and the one after
}

TEST_CASE("transport: what is queued leaves before the FIN of a close") {
    Pair pair;
    pair.connect();
    REQUIRE(pair.established());
    const auto session = pair.dialler.recorder.all<protocol::Dialled>().at(0).session;
    for (std::uint64_t i = 1; i <= 3; ++i) {
        pair.dialler.transport.send(session, protocol::Resign{{i}, {}});
    }
    pair.dialler.transport.close(session);
    REQUIRE(run_until(pair.io, [&] { return has_one<protocol::SessionEnded>(pair.acceptor); }));
    CHECK(pair.acceptor.recorder.all<protocol::Receive>().size() == 3);
    CHECK(pair.acceptor.recorder.all<protocol::SessionEnded>().at(0).how == SessionEnd::eof);
    CHECK(pair.dialler.recorder.all<protocol::SessionEnded>().empty());
}

TEST_CASE("transport: every descriptor that it opens is closed on exec") {
    const std::set<int> before = open_descriptors();
    Pair pair;
    pair.connect();
    REQUIRE(pair.established());
    int ours = 0;
    for (const int fd : open_descriptors()) {
        if (before.contains(fd)) continue;
        ++ours;
        CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(ours >= 3);  // listener and both ends
}

TEST_CASE("transport: a port that is in use is an error that names the address") {
    const BoundListener listener = listen_anywhere();
    const auto again = tcp::listen_on(listener.at);
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error().find(to_text(listener.at)) != std::string::npos);
}

TEST_SUITE_END();

}  // namespace bullring::transport_test
