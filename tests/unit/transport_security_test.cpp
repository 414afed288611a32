// A secured transport: what the handshake has found out bounds what is said afterwards, and what
// ends a session releases something only where the other end has said so.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "src/base/os/local_socket.hpp"
#include "src/node/net/transport.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/temporary_files.hpp"
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
    auto made = TlsContext::make(key_credentials(std::move(keys)), Bearer{"blue", node}).value();
    return made;
}

Change secured(Context context) {
    return
        [context = std::move(context)](TransportOptions& options) { options.security = context; };
}

/// A connection that has said nothing for a fifth of a second makes room.
Change impatient(Context context) {
    return [context = std::move(context)](TransportOptions& options) {
        options.security = context;
        options.handshake_max = protocol::seconds(1);
    };
}

template <typename What>
bool has_one(const Host& host) {
    return !host.recorder.all<What>().empty();
}

std::function<bool()> has_passed(std::chrono::milliseconds time) {
    return [end = std::chrono::steady_clock::now() + time] {
        return std::chrono::steady_clock::now() >= end;
    };
}

void run_for(asio::io_context& io, std::chrono::milliseconds time) {
    run_until(io, has_passed(time));
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
    /// So many sessions, one after the other.
    bool established(std::size_t count = 1) {
        return run([&] { return dialler->recorder.all<protocol::Receive>().size() >= count; });
    }
    void run_for(std::chrono::milliseconds time) { run(has_passed(time)); }
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

/// A voter that listens, and nobody else.
struct Alone {
    explicit Alone(const Change& change, BoundListener listener = listen_anywhere())
        : at(listener.at), host(io, voter, {}, change) {
        host.transport.listen(std::move(listener.fds));
    }
    bool run(const std::function<bool()>& until) { return run_until(io, until); }

    asio::io_context io{1};
    Endpoint at;
    Host host;
};

/// A dialler that does its handshake a step at a time.
class TlsDialler {
public:
    TlsDialler(const Endpoint& to, Context context, const std::string& from = "")
        : socket_(RawSocket::connect(to, 0, from)),
          tls_(TlsConnection::to(std::move(context), voter)) {
        int on = 1;
        ::ioctl(socket_.fd(), FIONBIO, &on);
    }
    TlsConnection::Step step() { return tls_->step(socket_.fd()); }
    bool has_input() const {
        std::byte byte{};
        return ::recv(socket_.fd(), &byte, 1, MSG_PEEK) == 1;
    }
    void send(const std::vector<std::byte>& bytes) {
        CHECK(tls_->write(socket_.fd(), bytes).status == IoStatus::done);
    }

private:
    RawSocket socket_;
    std::unique_ptr<TlsConnection> tls_;
};

std::uint64_t count_of(const NamedCounts& counts, std::string_view what) {
    std::uint64_t found = 0;
    counts.each([&](const char* name, std::uint64_t count) {
        if (name == what) found = count;
    });
    return found;
}

bool is_closed(const RawSocket& socket) {
    std::byte byte{};
    const ssize_t read = ::recv(socket.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return read == 0 || (read < 0 && errno != EAGAIN);
}

const std::vector<SessionEnd> eof{SessionEnd::eof};
const std::vector<SessionEnd> truncated{SessionEnd::truncated};

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
    CHECK(pair.ends() == truncated);
}

TEST_CASE("transport: who is authenticated as one member can't say that it is another") {
    Pair pair(secured(by_key(voter)), secured(by_key(NodeId{3})));
    REQUIRE(pair.run([&] { return has_one<protocol::SessionEnded>(*pair.dialler); }));
    CHECK(!has_one<protocol::HelloReceived>(pair.acceptor));
    CHECK(!has_one<protocol::Receive>(*pair.dialler));
}

TEST_CASE("transport: a secured node takes no frame without TLS, and tells nothing but that") {
    Alone node(secured(by_key(voter)));
    const RawSocket socket = RawSocket::connect(node.at);
    socket.send(hello_frame(holder));
    std::array<std::byte, 64> told{};
    REQUIRE(node.run(
        [&] { return ::recv(socket.fd(), told.data(), 1, MSG_PEEK | MSG_DONTWAIT) == 1; }));
    CHECK(socket.read_some(told) == 7);
    CHECK(told[0] == std::byte{0x15});
    CHECK(!has_one<protocol::HelloReceived>(node.host));
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

TEST_CASE("transport: which credential a member has shown is told, and of its newest connection") {
    Pair pair(secured(by_key(voter, {first, second})), secured(by_key(holder, {first, second})));
    REQUIRE(pair.established());
    const auto by_acceptor = [&] {
        return pair.acceptor.transport.credentials({}).peers.at(holder);
    };
    const auto by_dialler = [&] { return pair.dialler->transport.credentials({}).peers.at(voter); };
    CHECK(by_acceptor().shown.key == first.id);
    CHECK(by_acceptor().dialled_with.empty());
    CHECK(by_dialler().dialled_with == first.id);
    CHECK(by_dialler().shown == ShownCredential{});  // it has not dialled
    pair.dialler->transport.renew(by_key(holder, {second, first}));
    REQUIRE(pair.established(2));
    CHECK(by_acceptor().shown.key == second.id);
    CHECK(by_dialler().dialled_with == second.id);
}

TEST_CASE("transport: a member's certificate is told at both ends") {
    const TestCa ca;
    const auto by_certificate = [&](NodeId id) {
        auto made = TlsContext::make(ca.node(id.value), Bearer{"blue", id}).value();
        return made;
    };
    const Context of_voter = by_certificate(voter);
    const Context of_holder = by_certificate(holder);
    Pair pair(secured(of_voter), secured(of_holder));
    REQUIRE(pair.established());
    const auto seen = pair.acceptor.transport.credentials({}).peers.at(holder).shown;
    CHECK(seen == of_holder->own().shown);
    CHECK(!seen.certificate.empty());
    CHECK(seen.issuer.name == of_voter->own().trusts.front().name);
    CHECK(pair.dialler->transport.credentials({}).peers.at(voter).shown == of_voter->own().shown);
}

TEST_CASE("transport: with new credentials a member's session that they do not let in ends soon") {
    Pair pair(impatient(by_key(voter)), impatient(by_key(holder)));
    REQUIRE(pair.established());
    SUBCASE("accepted") { pair.acceptor.transport.renew(by_key(voter, {second})); }
    SUBCASE("dialled") { pair.dialler->transport.renew(by_key(holder, {second})); }
    CHECK(!has_one<protocol::SessionEnded>(pair.acceptor));
    CHECK(!has_one<protocol::SessionEnded>(*pair.dialler));
    CHECK(pair.run([&] { return has_one<protocol::SessionEnded>(*pair.dialler); }));
}

TEST_CASE("transport: with new credentials a member's session lasts until the next one is there") {
    Pair pair(impatient(by_key(voter)), impatient(by_key(holder)));
    REQUIRE(pair.established());
    const protocol::SessionId old = pair.dialled();
    // Its other end is about to have the new key, too.
    pair.acceptor.transport.renew(by_key(voter, {second}));
    pair.dialler->transport.renew(by_key(holder, {second}));
    REQUIRE(pair.established(2));
    CHECK(!has_one<protocol::SessionEnded>(pair.acceptor));
    pair.dialler->transport.close(old);
    CHECK(pair.ends() == eof);
    CHECK(!has_one<protocol::SessionEnded>(*pair.dialler));
}

TEST_CASE("transport: credentials that change twice while a session is replaced replace it once") {
    Pair pair(secured(by_key(voter, {first, second})), secured(by_key(holder)));
    REQUIRE(pair.established());
    const protocol::SessionId old = pair.dialled();
    pair.dialler->transport.renew(by_key(holder, {second, first}));
    pair.dialler->transport.renew(by_key(holder, {second, first}));
    REQUIRE(pair.established(2));
    const protocol::SessionId now = pair.dialled();
    pair.dialler->transport.close(old);
    REQUIRE(pair.ends() == eof);
    pair.run_for(std::chrono::milliseconds(300));  // an attempt follows another within a tenth
    CHECK(pair.dialled() == now);
    CHECK(!has_one<protocol::SessionEnded>(*pair.dialler));
}

TEST_CASE("transport: a session that was being made while credentials changed is replaced, too") {
    Pair pair(secured(by_key(voter, {first, second})), secured(by_key(holder)));
    REQUIRE(pair.run([&] { return has_one<protocol::Dialled>(*pair.dialler); }));
    REQUIRE(!has_one<protocol::Receive>(*pair.dialler));
    pair.dialler->transport.renew(by_key(holder, {second, first}));
    REQUIRE(pair.established(2));
    const protocol::SessionId now = pair.dialled();
    pair.run_for(std::chrono::milliseconds(300));
    CHECK(pair.dialled() == now);
    // It has been made with the new key, so it outlasts the old one.
    pair.acceptor.transport.renew(by_key(voter, {second}));
    pair.dialler->transport.send(now, protocol::Heartbeat{});
    pair.dialler->transport.flush();
    CHECK(pair.run([&] { return pair.acceptor.recorder.heartbeats() == 1; }));
}

TEST_CASE("transport: however many they are, those that are not let in any more are closed") {
    Alone node(secured(by_key(voter)));
    std::vector<TlsDialler> diallers;
    for (std::size_t i = 1; i <= 20; ++i) {
        TlsDialler& one = diallers.emplace_back(node.at, by_key(holder));
        REQUIRE(node.run([&] { return one.step() == TlsConnection::Step::done; }));
        one.send(hello_frame(holder));
        REQUIRE(node.run(
            [&] { return node.host.recorder.all<protocol::HelloReceived>().size() == i; }));
    }
    const auto ended = [&] { return node.host.recorder.all<protocol::SessionEnded>().size(); };
    node.host.transport.renew(by_key(voter, {second, first}));
    CHECK(ended() == 0);
    node.host.transport.renew(by_key(voter, {second}));  // before the loop has turned
    CHECK(node.run([&] { return ended() == diallers.size(); }));
}

TEST_CASE("transport: who has held its handshake open is judged by the credentials of its end") {
    NamedCounts refused;
    Alone node([&](TransportOptions& options) {
        options.security = by_key(voter);
        options.refused = &refused;
    });
    TlsDialler dialler(node.at, by_key(holder));
    CHECK(dialler.step() == TlsConnection::Step::wants_read);
    REQUIRE(node.run([&] { return dialler.has_input(); }));
    node.host.transport.renew(by_key(voter, {second}));
    REQUIRE(node.run([&] { return dialler.step() != TlsConnection::Step::wants_read; }));
    dialler.send(hello_frame(holder));
    REQUIRE(node.run([&] { return count_of(refused, "security") == 1; }));
    CHECK(node.host.recorder.events.empty());
}

TEST_CASE("transport: secured sessions that were held go on with what had come") {
    Pair pair(secured(by_key(voter)), secured(by_key(holder)));
    REQUIRE(pair.established());
    bool cut = false;
    pair.acceptor.recorder.then = [&](const protocol::Event& event) {
        if (cut || !std::holds_alternative<protocol::Receive>(event)) return;
        cut = true;
        pair.acceptor.transport.cut_off(protocol::milliseconds(20));
    };
    for (int i = 0; i < 3; ++i) {
        pair.dialler->transport.send(pair.dialled(), protocol::Heartbeat{});
        pair.dialler->transport.flush();  // a record each
    }
    CHECK(pair.run([&] { return pair.acceptor.recorder.heartbeats() == 3; }));
    pair.dialler->transport.send(pair.dialled(), protocol::Heartbeat{});
    pair.dialler->transport.flush();
    CHECK(pair.run([&] { return pair.acceptor.recorder.heartbeats() == 4; }));
}

TEST_CASE("transport: who comes by the local socket may command, and is no member") {
    asio::io_context io{1};
    const TemporaryDirectory directory;
    Host host(io, voter, {}, secured(by_key(voter)));
    auto listener = LocalListener::open(directory.path(), "control.sock", SOCK_STREAM).value();
    host.transport.listen_locally(listener.take());
    const auto connected = [&] {
        auto socket = connect_locally(directory.path(), "control.sock", SOCK_STREAM).value();
        return RawSocket(std::move(socket));
    };
    const RawSocket owner = connected();
    owner.send(observer_frame(Observe{"", ObserveWhat::resign, protocol::nobody}));
    REQUIRE(run_until(io, [&] { return !host.recorder.observers.empty(); }));
    CHECK(host.transport.may_command(host.recorder.observers.front().first));
    CHECK(host.transport.is_local(host.recorder.observers.front().first));

    const RawSocket member = connected();
    member.send(hello_frame(holder));
    REQUIRE(run_until(io, [&] { return is_closed(member); }));
    CHECK(!has_one<protocol::HelloReceived>(host));
}

TEST_CASE("transport: strangers that say nothing keep no other stranger out") {
    Alone node(impatient(by_key(voter)));
    std::vector<RawSocket> silent;
    const auto flood = [&] {
        for (int i = 0; i < 40; ++i)
            silent.push_back(
                RawSocket::connect(node.at, 0, "127.0.0." + std::to_string(60 + i / 4)));
    };
    flood();
    run_for(node.io,
            std::chrono::milliseconds(250));  // then those that say nothing have had their time
    TlsDialler honest(node.at, by_key(holder), "127.0.0.99");
    CHECK(honest.step() == TlsConnection::Step::wants_read);
    REQUIRE(node.run([&] { return honest.has_input(); }));
    flood();
    for (int i = 0; i < 8; ++i) silent.push_back(RawSocket::connect(node.at, 0, "127.0.0.99"));
    REQUIRE(node.run([&] { return honest.step() == TlsConnection::Step::done; }));
    honest.send(hello_frame(holder));
    CHECK(node.run([&] { return has_one<protocol::HelloReceived>(node.host); }));
}

TEST_CASE("transport: of strangers' silent connections four from one address are held") {
    // No member and no connection of this node's own is at that address.
    Alone node(impatient(by_key(voter)));
    std::vector<RawSocket> held;
    for (int i = 0; i < 6; ++i) held.push_back(RawSocket::connect(node.at, 0, "127.0.0.77"));
    const auto closed = [&] { return std::count_if(held.begin(), held.end(), is_closed); };
    CHECK(node.run([&] { return closed() >= 2; }));
    CHECK(closed() == 2);
    CHECK(!is_closed(held[0]));
    run_for(node.io, std::chrono::milliseconds(250));
    held.push_back(RawSocket::connect(node.at, 0, "127.0.0.77"));
    CHECK(node.run([&] { return is_closed(held[0]); }));
    CHECK(!is_closed(held.back()));
}

}  // namespace bullring::transport_security_test
