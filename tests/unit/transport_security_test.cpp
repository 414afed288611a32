// A secured transport: what the handshake has found out bounds what is said afterwards, and what
// ends a session releases something only where the other end has said so.
#include <array>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "src/net/transport.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::transport_security_test {

using namespace bullring::test;
using protocol::NodeId;
using protocol::SessionEnd;

namespace {

constexpr NodeId voter{1};
constexpr NodeId holder{2};
const Key first = key_of(1);
const Key second = key_of(2);

using Context = std::shared_ptr<const TlsContext>;
using Change = std::function<void(TransportOptions&)>;

Context by_key(NodeId node, std::vector<Key> keys = {first}) {
    auto made = TlsContext::make(key_credentials(std::move(keys)), Bearer{"blue", node});
    REQUIRE(made.has_value());
    return *made;
}

Change secured(Context context) {
    return
        [context = std::move(context)](TransportOptions& options) { options.security = context; };
}

template <typename What>
bool has_one(const Host& host) {
    return !host.recorder.all<What>().empty();
}

/// A holder that dials a voter, each with a loop of its own, as in two processes.
struct Pair {
    Pair(const Change& of_voter, const Change& of_holder)
        : acceptor(io, voter, {}, of_voter),
          dialler(std::make_unique<Host>(dialler_io, holder, PeerList{{voter, listener.at}},
                                         of_holder)) {
        acceptor.transport.listen(std::move(listener.fds));
        dialler->transport.start_dialling();
    }
    bool run(const std::function<bool()>& until) {
        return run_until(io, [&] {
            dialler_io.restart();
            if (dialler) dialler_io.poll();
            return until();
        });
    }
    bool established() {
        return run([&] { return has_one<protocol::Receive>(*dialler); });
    }
    protocol::SessionId dialled() const {
        return dialler->recorder.all<protocol::Dialled>().back().session;
    }
    std::vector<SessionEnd> ends() {
        run([&] { return has_one<protocol::SessionEnded>(acceptor); });
        std::vector<SessionEnd> found;
        for (const auto& end : acceptor.recorder.all<protocol::SessionEnded>())
            found.push_back(end.how);
        return found;
    }

    asio::io_context io{1};
    asio::io_context dialler_io{1};
    BoundListener listener = listen_anywhere();
    Host acceptor;
    std::unique_ptr<Host> dialler;
};

const std::vector<SessionEnd> eof{SessionEnd::eof};
const std::vector<SessionEnd> reset{SessionEnd::reset};

}  // namespace

TEST_CASE("transport: secured members exchange what others do, and a session let go is eof") {
    Pair pair(secured(by_key(voter)), secured(by_key(holder)));
    REQUIRE(pair.established());
    for (int i = 0; i < 20; ++i) {
        pair.dialler->transport.send(pair.dialled(), protocol::Heartbeat{});
        pair.dialler->transport.flush();
        const auto all = static_cast<std::size_t>(i) + 1;
        REQUIRE(pair.run([&] { return pair.acceptor.recorder.heartbeats() >= all; }));
    }
    pair.dialler->transport.close(pair.dialled());
    CHECK(pair.ends() == eof);
}

TEST_CASE("transport: the end of a secured dialler's process is no eof") {
    Pair pair(secured(by_key(voter)), secured(by_key(holder)));
    REQUIRE(pair.established());
    pair.dialler.reset();  // its descriptors are closed, as the kernel does
    CHECK(pair.ends() == reset);
}

TEST_CASE("transport: who is authenticated as one member can't say that it is another") {
    Pair pair(secured(by_key(voter)), secured(by_key(NodeId{3})));
    REQUIRE(pair.run([&] { return has_one<protocol::SessionEnded>(*pair.dialler); }));
    CHECK(!has_one<protocol::HelloReceived>(pair.acceptor));
    CHECK(!has_one<protocol::Receive>(*pair.dialler));
}

TEST_CASE("transport: a secured node takes no frame without TLS, and tells nothing but that") {
    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    const Endpoint at = listener.at;
    Host host(io, voter, {}, secured(by_key(voter)));
    host.transport.listen(std::move(listener.fds));
    const RawSocket socket = RawSocket::connect(at);
    socket.send(hello_frame(holder));
    std::array<std::byte, 64> told{};
    REQUIRE(run_until(
        io, [&] { return ::recv(socket.fd(), told.data(), 1, MSG_PEEK | MSG_DONTWAIT) == 1; }));
    CHECK(socket.read_some(told) == 7);
    CHECK(told[0] == std::byte{0x15});
    CHECK(!has_one<protocol::HelloReceived>(host));
}

TEST_CASE("transport: in a migration both are taken, and who speaks no TLS is dialled without") {
    const auto migrating = [](Context context) -> Change {
        return [context = std::move(context)](TransportOptions& options) {
            options.security = context;
            options.migrate = true;
        };
    };
    SUBCASE("from a node that has no security yet") {
        Pair pair(migrating(by_key(voter)), {});
        CHECK(pair.established());
    }
    SUBCASE("to a node that has no security yet") {
        Pair pair({}, migrating(by_key(holder)));
        CHECK(pair.established());
    }
    SUBCASE("between two that migrate") {
        Pair pair(migrating(by_key(voter)), migrating(by_key(holder)));
        CHECK(pair.established());
    }
}

TEST_CASE("transport: with new credentials a session is replaced while it lasts") {
    Pair pair(secured(by_key(voter)), secured(by_key(holder)));
    REQUIRE(pair.established());
    const protocol::SessionId old = pair.dialled();
    pair.acceptor.transport.renew(by_key(voter, {first, second}));
    pair.dialler->transport.renew(by_key(holder, {second, first}));
    REQUIRE(pair.run([&] { return pair.dialler->recorder.all<protocol::Receive>().size() == 2; }));
    CHECK(pair.dialled() != old);
    CHECK(!has_one<protocol::SessionEnded>(*pair.dialler));
    CHECK(!has_one<protocol::SessionEnded>(pair.acceptor));
    pair.dialler->transport.close(old);
    CHECK(pair.ends() == eof);

    // The old key is gone: whoever has come with the new one stays.
    pair.acceptor.transport.renew(by_key(voter, {second}));
    pair.dialler->transport.send(pair.dialled(), protocol::Heartbeat{});
    pair.dialler->transport.flush();
    CHECK(pair.run([&] { return pair.acceptor.recorder.heartbeats() == 1; }));
    CHECK(pair.acceptor.recorder.all<protocol::SessionEnded>().size() == 1);
}

TEST_CASE("transport: with new credentials those that are not let in any more are closed") {
    Pair pair(secured(by_key(voter)), secured(by_key(holder)));
    REQUIRE(pair.established());
    pair.acceptor.transport.renew(by_key(voter, {second}));
    CHECK(has_one<protocol::SessionEnded>(pair.acceptor));
    REQUIRE(pair.run([&] { return has_one<protocol::SessionEnded>(*pair.dialler); }));
}

TEST_CASE("transport: of strangers' silent connections four from one address are held") {
    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    const Endpoint at = listener.at;
    // No member and no connection of this node's own is at that address.
    Host host(io, voter, {}, secured(by_key(voter)));
    host.transport.listen(std::move(listener.fds));
    std::vector<RawSocket> held;
    for (int i = 0; i < 6; ++i) held.push_back(RawSocket::connect(at, 0, "127.0.0.77"));
    const auto closed = [&] {
        int count = 0;
        for (const RawSocket& one : held) {
            std::byte byte{};
            const ssize_t read = ::recv(one.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            if (read == 0 || (read < 0 && errno != EAGAIN)) ++count;
        }
        return count;
    };
    CHECK(run_until(io, [&] { return closed() >= 2; }));
    CHECK(closed() == 2);
}

}  // namespace bullring::transport_security_test
