// TLS between a dialler and an acceptor, over a real TCP connection on loopback: who is let in and
// what is said of who is not, and what the end of a connection means.
#include "src/security/tls_connection.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "src/security/psk.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::tls_connection_test {

using namespace bullring::test;
using protocol::NodeId;

namespace {

using Context = std::shared_ptr<const TlsContext>;
using Step = TlsConnection::Step;

Context context_of(Credentials credentials, std::uint64_t node = 0,
                   const std::string& cluster = "blue") {
    auto made = TlsContext::make(std::move(credentials), Bearer{cluster, NodeId{node}}).value();
    return made;
}

/// One end: its socket, and TLS on it.
struct End {
    OwnedFd socket;
    std::unique_ptr<TlsConnection> tls;
    Step step = Step::wants_read;

    bool over() const { return step == Step::done || step == Step::failed; }
    IoResult read(std::string& into) {
        std::array<std::byte, 4096> piece{};
        const IoResult result = tls->read(socket.get(), piece);
        into.append(reinterpret_cast<const char*>(piece.data()), result.bytes);
        return result;
    }
    /// Waits for what comes.
    IoStatus read_to_end(std::string& into) {
        while (true) {
            const IoResult result = read(into);
            if (result.status == IoStatus::done) continue;
            if (result.status == IoStatus::would_block && tls->pending()) continue;
            if (result.status != IoStatus::would_block) return result.status;
            wait_for_more();
        }
    }
    void wait_for_more() const {
        pollfd readable{socket.get(), POLLIN, 0};
        REQUIRE(::poll(&readable, 1, 10'000) == 1);
    }
    IoResult write(const std::string& text) {
        return tls->write(socket.get(), std::as_bytes(std::span(text)));
    }
};

OwnedFd non_blocking(const RawSocket& socket) {
    OwnedFd fd(::dup(socket.fd()));
    int on = 1;
    ::ioctl(fd.get(), FIONBIO, &on);
    return fd;
}

struct Pair {
    Pair(Context dialler_has, Context acceptor_has, std::uint64_t dialled = 2) {
        const BoundListener listener = listen_anywhere();
        {
            const RawSocket from = RawSocket::connect(listener.at);
            const RawSocket to = RawSocket::accept(listener);
            dialler.socket = non_blocking(from);
            acceptor.socket = non_blocking(to);
        }
        dialler.tls = TlsConnection::to(std::move(dialler_has), NodeId{dialled});
        acceptor.tls = TlsConnection::from_anybody(std::move(acceptor_has));
    }

    /// Until both are through; one that fails closes its end.
    void shake() {
        for (int turn = 0; turn < 10'000 && !(dialler.over() && acceptor.over()); ++turn) {
            for (End* const end : {&dialler, &acceptor}) {
                if (end->over()) continue;
                end->step = end->tls->step(end->socket.get());
                if (end->step == Step::failed) end->socket = OwnedFd();
            }
        }
        REQUIRE(dialler.over());
        REQUIRE(acceptor.over());
        // A dialler is through before the acceptor has judged it.
        std::string nothing;
        if (dialler.step == Step::done && acceptor.step == Step::failed)
            dialler.read_to_end(nothing);
    }
    bool both_let_in() const { return dialler.step == Step::done && acceptor.step == Step::done; }

    End dialler;
    End acceptor;
};

const Key first = key_of(1);
const Key second = key_of(2);

Pair keyed() {
    Pair pair(context_of(key_credentials({first}), 1), context_of(key_credentials({first}), 2));
    pair.shake();
    REQUIRE(pair.both_let_in());
    return pair;
}

}  // namespace

TEST_CASE("tls: with a key both ends know each other, whichever of the keys it is") {
    const Pair pair = keyed();
    CHECK(pair.dialler.tls->peer() == PeerIdentity{PeerRole::member, NodeId{2}});
    CHECK(pair.acceptor.tls->peer() == PeerIdentity{PeerRole::member, NodeId{1}});

    Pair changing(context_of(key_credentials({second, first}), 1),
                  context_of(key_credentials({first, second}), 2));
    changing.shake();
    CHECK(changing.both_let_in());
}

TEST_CASE(
    "tls: who has the key and is no member is an administrator, or with its own an observer") {
    Pair admin(context_of(key_credentials({first})), context_of(key_credentials({first}), 2));
    admin.shake();
    REQUIRE(admin.both_let_in());
    CHECK(admin.acceptor.tls->peer() == PeerIdentity{PeerRole::admin, {}});

    Pair observer(context_of(key_credentials({}, {second})),
                  context_of(key_credentials({first}, {second}), 2));
    observer.shake();
    REQUIRE(observer.both_let_in());
    CHECK(observer.acceptor.tls->peer() == PeerIdentity{PeerRole::observer, {}});
}

TEST_CASE("tls: a node that joins reaches whoever is there, but not itself") {
    Pair pair(context_of(key_credentials({first}), 4), context_of(key_credentials({first}), 2), 0);
    pair.shake();
    CHECK(pair.both_let_in());
    CHECK(pair.acceptor.tls->peer() == PeerIdentity{PeerRole::member, NodeId{4}});
    // Its own handshake, sent back to it by somebody in between.
    const Context itself = context_of(key_credentials({first}), 4);
    Pair reflected(itself, itself, 0);
    reflected.shake();
    CHECK_FALSE(reflected.both_let_in());
    CHECK(reflected.acceptor.tls->problem() == "it is this node itself");
}

TEST_CASE("tls: with certificates both ends know each other by their URI") {
    const TestCa ca;
    Pair pair(context_of(ca.node(1), 1), context_of(ca.node(2), 2));
    pair.shake();
    REQUIRE(pair.both_let_in());
    CHECK(pair.dialler.tls->peer() == PeerIdentity{PeerRole::member, NodeId{2}});
    CHECK(pair.acceptor.tls->peer() == PeerIdentity{PeerRole::member, NodeId{1}});

    for (const auto& [word, role] :
         {std::pair{"admin", PeerRole::admin}, std::pair{"observer", PeerRole::observer}}) {
        CertificateWish wish;
        wish.uris = {std::string("bullring://blue/") + word};
        wish.server = false;
        Pair other(context_of(ca.issue(wish)), context_of(ca.node(2), 2));
        other.shake();
        REQUIRE(other.both_let_in());
        CHECK(other.acceptor.tls->peer() == PeerIdentity{role, {}});
    }
}

TEST_CASE("tls: a list of revocations that is old still counts, and lets the others in") {
    const TestCa ca;
    const Credentials gone = ca.node(3);
    Credentials mine = ca.node(2);
    mine.revocations.push_back(ca.revoke(gone, {.to_hours = -1}));
    Pair pair(context_of(ca.node(1), 1), context_of(std::move(mine), 2));
    pair.shake();
    CHECK(pair.both_let_in());
}

namespace {

struct Refusal {
    const char* name;
    Context dialler;
    Context acceptor;
    std::string by_dialler;   // what it says of the acceptor
    std::string by_acceptor;  // what it says of the dialler
    std::uint64_t dialled = 2;
};

std::vector<Refusal> refusals() {
    const TestCa ca;
    const TestCa stranger;
    const auto node2 = [&] { return context_of(ca.node(2), 2); };
    const auto with = [&](CertificateWish wish, const char* uri = "bullring://blue/node/1") {
        if (wish.uris.empty()) wish.uris = {uri};
        return context_of(ca.issue(wish), 1);
    };
    const auto wish = [](auto change) {
        CertificateWish made;
        change(made);
        return made;
    };
    const Credentials gone = ca.node(3);
    Credentials watchful = ca.node(2);
    watchful.revocations.push_back(ca.revoke(gone));
    Credentials revoked;
    revoked.mode = SecurityMode::tls;
    revoked.chain.push_back(copy_of(gone.chain.front()));
    EVP_PKEY_up_ref(gone.private_key.get());
    revoked.private_key.reset(gone.private_key.get());
    revoked.authorities.push_back(copy_of(ca.certificate()));
    const auto key = [](const Key& one, std::uint64_t node, const std::string& cluster = "blue") {
        return context_of(key_credentials({one}), node, cluster);
    };
    const std::string refused = "it refuses this end's certificate: ";
    std::vector<Refusal> all;
    all.push_back({"the CA of the dialler is another one", context_of(stranger.node(1), 1), node2(),
                   "its certificate is not from this cluster's CA",
                   refused + "its CA is not one there, or has no revocation list there"});
    Credentials both = stranger.node(1);
    both.authorities.push_back(copy_of(ca.certificate()));
    all.push_back({"the CA of the dialler is another one, and it trusts the acceptor's",
                   context_of(std::move(both), 1), node2(),
                   refused + "its CA is not one there, or has no revocation list there",
                   "its certificate is not from this cluster's CA"});
    all.push_back({"a certificate of the dialler that has expired", with(wish([](auto& one) {
                       one.to_hours = 0;
                       one.from_hours = -2;
                   })),
                   node2(), refused + "it has expired, by the clock there",
                   "its certificate has expired"});
    all.push_back({"a certificate of the dialler that is not valid yet",
                   with(wish([](auto& one) { one.from_hours = 2; })), node2(),
                   refused + "the log there says why",
                   "its certificate is not valid yet; is the clock right on both machines?"});
    all.push_back({"one that has been revoked", context_of(std::move(revoked), 3),
                   context_of(std::move(watchful), 2), refused + "it has been revoked",
                   "its certificate has been revoked"});
    all.push_back({"a certificate without a URI",
                   with(wish([](auto& one) { one.uris = {"https://blue/node/1"}; })), node2(),
                   refused + "the log there says why; all members need the same --security",
                   "its certificate has no URI bullring://blue/… among its alternative names"});
    all.push_back({"a certificate for another cluster", with({}, "bullring://red/node/1"), node2(),
                   refused + "the log there says why; all members need the same --security",
                   "its certificate is for \"bullring://red/node/1\", not for cluster 'blue'"});
    all.push_back({"a certificate for two members", with(wish([](auto& one) {
                       one.uris = {"bullring://blue/node/1", "bullring://blue/node/3"};
                   })),
                   node2(),
                   refused + "the log there says why; all members need the same --security",
                   "its certificate is for node 1 and for node 3 of cluster 'blue'; expected one "
                   "of them"});
    all.push_back({"a dialler that may only serve",
                   with(wish([](auto& one) { one.client = false; })), node2(),
                   refused + "its key usage or extended key usage does not allow this; the log "
                             "there says which",
                   "its certificate lacks the extended key usage for this"});
    all.push_back({"a certificate whose key may not sign",
                   with(wish([](auto& one) { one.key_usage = "critical,dataEncipherment"; })),
                   node2(),
                   refused + "its key usage or extended key usage does not allow this; the log "
                             "there says which",
                   "its certificate has a key usage without digitalSignature"});
    all.push_back({"a certificate that does not say what it may be used for",
                   with(wish([](auto& one) { one.uses = false; })), node2(),
                   refused + "the log there says why; all members need the same --security",
                   "its certificate lacks the extended key usage clientAuth"});
    all.push_back({"another member than was dialled", context_of(ca.node(1), 1), node2(),
                   "its certificate is for node 2, not for node 3",
                   refused + "the log there says why; all members need the same --security", 3});
    CertificateWish admin;
    admin.uris = {"bullring://blue/admin"};
    all.push_back({"an administrator in the place of a member", context_of(ca.node(1), 1),
                   context_of(ca.issue(admin), 2),
                   "its certificate is for an administrator, not "
                   "for node 2",
                   refused + "the log there says why; all members need the same --security"});
    all.push_back({"another key", key(first, 1), key(second, 2),
                   "it refuses this end: it has another key or another --cluster",
                   "its key is \"00000001\", which is not one of this node's for node 1"});
    Key forged = first;
    forged.bytes.fill(9);
    all.push_back({"another key of the same name", key(forged, 1), key(first, 2),
                   "it refuses this end's key: it has another one",
                   "its key has the name of ours and is another one"});
    all.push_back({"a key for another member", key(first, 1), key(first, 3),
                   "it refuses this end: it has another key or another --cluster",
                   "it has dialled node 2, which this is not"});
    all.push_back({"the key of another cluster", key(first, 1, "red"), key(first, 2),
                   "it refuses this end: it has another key or another --cluster",
                   "it is of cluster \"red\""});
    all.push_back({"an observer's key of a member", context_of(key_credentials({second}), 1),
                   context_of(key_credentials({first}, {second}), 2),
                   "it refuses this end: it has another key or another --cluster",
                   "its key is \"00000002\", which is not one of this node's for node 1"});
    all.push_back({"a key and a certificate", key(first, 1), node2(),
                   "it answers with a certificate, not with this cluster's key; all members need "
                   "the same --security",
                   refused + "the log there says why; all members need the same --security"});
    all.push_back({"a certificate and a key", context_of(ca.node(1), 1), key(first, 2),
                   refused + "the log there says why; all members need the same --security",
                   "it does not have this cluster's key"});
    return all;
}

}  // namespace

TEST_CASE("tls: who does not belong is refused, with one clear reason at each end") {
    for (const Refusal& one : refusals()) {
        CAPTURE(one.name);
        Pair pair(one.dialler, one.acceptor, one.dialled);
        pair.shake();
        CHECK(!pair.both_let_in());
        CHECK(pair.dialler.tls->problem() == one.by_dialler);
        CHECK(pair.acceptor.tls->problem() == one.by_acceptor);
    }
}

TEST_CASE("tls: new credentials tell whether a session may go on") {
    const TestCa ca;
    const TestCa other;
    Pair pair(context_of(ca.node(1), 1), context_of(ca.node(2), 2));
    pair.shake();
    REQUIRE(pair.both_let_in());
    CHECK(pair.acceptor.tls->accepted_by(*context_of(ca.node(2), 2)).has_value());
    CHECK(pair.acceptor.tls->accepted_by(*context_of(other.node(2), 2)).error() ==
          "its certificate is not from this cluster's CA");
    CHECK(!pair.acceptor.tls->accepted_by(*context_of(key_credentials({first}), 2)).has_value());

    const Pair by_key = keyed();
    const auto now = context_of(key_credentials({second, first}), 2);
    CHECK(by_key.acceptor.tls->accepted_by(*now).has_value());
    CHECK(by_key.acceptor.tls->accepted_by(*context_of(key_credentials({second}), 2)).error() ==
          "its key 00000001 is no longer one of this node's");
}

// ---- What the end of a connection means: only the first releases a lease.

TEST_CASE("tls: what the other end says when it lets go is eof, after all that it has sent") {
    Pair pair = keyed();
    REQUIRE(pair.dialler.write("all of this").status == IoStatus::done);
    pair.dialler.tls->say_end(pair.dialler.socket.get());
    pair.dialler.socket = OwnedFd();
    std::string read;
    CHECK(pair.acceptor.read_to_end(read) == IoStatus::eof);
    CHECK(read == "all of this");
}

TEST_CASE("tls: the end of the TCP connection alone is no eof: anybody can cause it") {
    Pair pair = keyed();
    REQUIRE(pair.dialler.write("all of this").status == IoStatus::done);
    pair.dialler.socket = OwnedFd();
    std::string read;
    CHECK(pair.acceptor.read_to_end(read) == IoStatus::truncated);
    CHECK(read == "all of this");
}

TEST_CASE("tls: a RST is no eof") {
    Pair pair = keyed();
    const linger at_once{1, 0};
    ::setsockopt(pair.dialler.socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    pair.dialler.socket = OwnedFd();
    std::string read;
    CHECK(pair.acceptor.read_to_end(read) == IoStatus::reset);
}

TEST_CASE("tls: bytes that the other end has not sent are no eof, and nothing is read of them") {
    Pair pair = keyed();
    // A close_notify as it would be without keys, and a record of nonsense.
    const std::string forged("\x15\x03\x03\x00\x02\x01\x00\x17\x03\x03\x00\x13zzzzzzzzzzzzzzzzzzz",
                             7 + 5 + 19);
    REQUIRE(::send(pair.dialler.socket.get(), forged.data(), forged.size(), 0) ==
            static_cast<ssize_t>(forged.size()));
    std::string read;
    CHECK(pair.acceptor.read_to_end(read) == IoStatus::reset);
    CHECK(read.empty());
}

// ---- Bytes.

TEST_CASE("tls: what was taken for sending is not looked at again") {
    Pair pair = keyed();
    std::string sent;
    std::string read;
    // Until the kernel has no more room: the last record is then sent in part, or not at all.
    for (int i = 0; !pair.dialler.tls->unsent(); ++i) {
        std::string piece(30'000, static_cast<char>('a' + i % 26));
        const IoResult result = pair.dialler.write(piece);
        REQUIRE(result.status == IoStatus::done);
        sent += piece.substr(0, result.bytes);
        std::memset(piece.data(), 'z', piece.size());
    }
    CHECK(pair.dialler.write("more").status == IoStatus::would_block);
    while (pair.dialler.tls->unsent() || read.size() < sent.size()) {
        pair.acceptor.read(read);
        pair.dialler.tls->send_rest(pair.dialler.socket.get());
    }
    CHECK(read == sent);
}

TEST_CASE("tls: what has come with other bytes is pending, although the socket is silent") {
    Pair pair = keyed();
    REQUIRE(pair.dialler.write("one").status == IoStatus::done);
    REQUIRE(pair.dialler.write("two").status == IoStatus::done);
    std::string read;
    pollfd readable{pair.acceptor.socket.get(), POLLIN, 0};
    REQUIRE(::poll(&readable, 1, 10'000) == 1);
    REQUIRE(pair.acceptor.read(read).status == IoStatus::done);
    CHECK(read == "one");
    CHECK(pair.acceptor.tls->pending());
    REQUIRE(pair.acceptor.read(read).status == IoStatus::done);
    CHECK(read == "onetwo");
    CHECK(!pair.acceptor.tls->pending());
}

TEST_CASE("tls: a connection is TLS 1.3 with a fresh exchange, and leaves no ticket behind") {
    Pair pair = keyed();
    std::string read;
    // Nothing but the handshake has come: an unread byte would turn a FIN into a RST.
    CHECK(pair.dialler.read(read).status == IoStatus::would_block);
    CHECK(!pair.dialler.tls->pending());
}

// ---- Messages of TLS itself.

namespace {

/// An acceptor, and an end that has a certificate and says with it what no member does.
struct OddPair {
    OddPair() {
        const BoundListener listener = listen_anywhere();
        const RawSocket from = RawSocket::connect(listener.at);
        const RawSocket to = RawSocket::accept(listener);
        socket = non_blocking(from);
        acceptor.socket = non_blocking(to);
        SSL_set_fd(odd.get(), socket.get());
        SSL_set_connect_state(odd.get());
        for (int turn = 0; turn < 10'000 && acceptor.step != Step::done; ++turn) {
            SSL_do_handshake(odd.get());
            acceptor.step = acceptor.tls->step(acceptor.socket.get());
        }
        REQUIRE(acceptor.step == Step::done);
    }
    void change_keys(int times) const {
        for (int i = 0; i < times; ++i) {
            REQUIRE(SSL_key_update(odd.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
            REQUIRE(SSL_do_handshake(odd.get()) == 1);
        }
    }

    TestCa ca;
    Context mine = context_of(ca.node(1), 1);
    OwnedSsl odd{SSL_new(&mine->native())};
    OwnedFd socket;
    End acceptor{OwnedFd(), TlsConnection::from_anybody(context_of(ca.node(2), 2)),
                 Step::wants_read};
};

}  // namespace

TEST_CASE("tls: a read returns after a record or two, whatever is in them") {
    OddPair pair;
    pair.change_keys(20);
    REQUIRE(SSL_write(pair.odd.get(), "data", 4) == 4);
    std::string read;
    int reads = 0;
    while (read.empty()) {
        if (!pair.acceptor.tls->pending()) pair.acceptor.wait_for_more();
        const IoResult result = pair.acceptor.read(read);
        REQUIRE((result.status == IoStatus::done || result.status == IoStatus::would_block));
        ++reads;
    }
    CHECK(read == "data");
    CHECK(reads >= 10);
}

TEST_CASE("tls: an end that only changes its keys is left") {
    OddPair pair;
    std::string read;
    for (int round = 0; round < 3; ++round) {  // with data between them it may
        pair.change_keys(20);
        REQUIRE(SSL_write(pair.odd.get(), "data", 4) == 4);
        while (read.size() < static_cast<std::size_t>(round + 1) * 4) {
            if (!pair.acceptor.tls->pending()) pair.acceptor.wait_for_more();
            REQUIRE(pair.acceptor.read(read).status != IoStatus::reset);
        }
    }
    pair.change_keys(40);
    CHECK(pair.acceptor.read_to_end(read) == IoStatus::reset);
    CHECK(pair.acceptor.tls->problem() == "it sends messages of TLS itself and no data");
}

// ---- Keys.

TEST_CASE("psk: an identity can be read back, and nothing else can be read as one") {
    const PskIdentity member{"blue", "0a1b2c3d", {PeerRole::member, NodeId{3}}, NodeId{12}};
    CHECK(to_text(member) == "blue/0a1b2c3d/3→12");
    CHECK(parse_psk_identity(to_text(member)) == member);
    const PskIdentity admin{"blue", "0a1b2c3d", {PeerRole::admin, {}}, NodeId{1}};
    CHECK(parse_psk_identity(to_text(admin)) == admin);
    const PskIdentity joins{"blue", "0a1b2c3d", {PeerRole::member, NodeId{4}}, {}};
    CHECK(to_text(joins) == "blue/0a1b2c3d/4→any");
    CHECK(parse_psk_identity(to_text(joins)) == joins);
    for (const char* const wrong :
         {"", "blue", "blue/0a1b2c3d", "blue/0a1b2c3d/3", "blue/0a1b2c3d/3→", "blue/0a1b2c3d/→3",
          "blue/0a1b2c3d/03→1", "blue/0a1b2c3d/3→1 ", "blue/0a1b2c3d/0→1", "blue/0a1b2c3d/3→1/2"})
        CHECK_MESSAGE(!parse_psk_identity(wrong), wrong);
}

TEST_CASE("psk: each pair and direction, each cluster and each key has one of its own") {
    const auto psk = [](const Key& key, const char* cluster, std::uint64_t from, std::uint64_t to) {
        const auto made =
            derive_psk(key, {cluster, key.id, {PeerRole::member, NodeId{from}}, NodeId{to}})
                .value();
        return made;
    };
    const Psk one = psk(first, "blue", 1, 2);
    CHECK(one == psk(first, "blue", 1, 2));
    CHECK(one != psk(first, "blue", 2, 1));
    CHECK(one != psk(first, "blue", 1, 3));
    CHECK(one != psk(first, "red", 1, 2));
    CHECK(one != psk(second, "blue", 1, 2));
}

}  // namespace bullring::tls_connection_test
