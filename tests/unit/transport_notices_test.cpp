// Notices of death at the transport: who is believed, on which connections, and what a stranger
// can do with them.
#include <array>
#include <memory>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "src/node/net/notices.hpp"
#include "src/node/net/transport.hpp"
#include "src/security/death_secret.hpp"
#include "tests/support/credentials.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::transport_notices_test {

using namespace bullring::test;
using protocol::Died;
using protocol::Incarnation;
using protocol::NodeId;

namespace {

constexpr NodeId voter{1};
constexpr NodeId holder{2};
const Sender run{holder, incarnation_of(holder)};
const DeathSecret secret{1, 2, 3, UINT64_MAX};
const DeathSecret another_secret{1, 2, 3, 4};

std::vector<std::byte> notice_frame(const NoticeMessage& message, const Sender& sender = run) {
    std::vector<std::byte> frame;
    encode(sender, message, frame);
    return frame;
}

std::vector<std::byte> hello_with(const protocol::Commitment& commitment) {
    protocol::Hello hello;
    hello.id = holder;
    hello.incarnation = run.incarnation;
    hello.session = {1};
    hello.fast_release = protocol::FastRelease::notice;
    hello.commitment = commitment;
    return frame_of(holder, hello);
}

/// A voter that has taken the holder's HELLO, and whoever calls on it.
struct Voter {
    explicit Voter(const std::function<void(TransportOptions&)>& change = {})
        : host(io, voter, {}, change) {
        host.transport.listen(std::move(listener.fds));
    }
    RawSocket call(const std::vector<std::byte>& bytes) {
        RawSocket socket = RawSocket::connect(at);
        socket.send(bytes);
        return socket;
    }
    bool heard(std::size_t hellos) {
        return run_until(
            io, [&] { return host.recorder.all<protocol::HelloReceived>().size() == hellos; });
    }
    std::size_t deaths() const { return host.recorder.all<Died>().size(); }
    bool closes(const RawSocket& socket) {
        return run_until(io, [&] {
            std::byte byte{};
            return ::recv(socket.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
        });
    }
    /// All that has been sent before has been read.
    void settle() {
        const RawSocket last = call(notice_frame(Mourn{}, Sender{{9}, {9}}));
        REQUIRE(closes(last));
    }

    asio::io_context io{1};
    BoundListener listener = listen_anywhere();
    Endpoint at = listener.at;
    Host host;
};

}  // namespace

// N1.2
TEST_CASE("notices: the commitment is the SHA-256 of the secret's bytes") {
    // printf of 32 zero bytes | sha256sum
    CHECK(commitment_to({}) == protocol::Commitment{0x66687aadf862bd77, 0x6c8fc18b8e9f8e20,
                                                    0x089714856ee233b3, 0x902a591d0d5f2925});
    CHECK(draw_death_secret() != draw_death_secret());
}

// N3.2, N3.3
TEST_CASE("notices: the first commitment of a run counts, and of the last runs alone") {
    Notices notices;
    CHECK(!notices.knows(run));
    notices.learn(run, {}, false);
    CHECK(!notices.knows(run));
    notices.learn(run, commitment_to(secret), false);
    notices.learn(run, commitment_to(another_secret), false);
    CHECK(!notices.prove(run, another_secret));
    CHECK(!notices.prove({voter, run.incarnation}, secret));
    CHECK(notices.prove(run, secret));
    CHECK(!notices.prove(run, secret));
    CHECK(!notices.knows(run));
    for (std::uint64_t i = 1; i <= Notices::runs_max; ++i)
        notices.learn({holder, {i}}, commitment_to(secret), false);
    CHECK(notices.prove({holder, {1}}, secret));
    notices.learn({holder, {9}}, commitment_to(secret), false);
    CHECK(!notices.knows({holder, {1}}));
}

// N3.2
TEST_CASE("notices: what is authenticated takes the place of what was not, and not the reverse") {
    Notices notices;
    notices.learn(run, commitment_to(another_secret), false);
    notices.learn(run, commitment_to(secret), true);
    notices.learn(run, commitment_to(another_secret), true);
    CHECK(!notices.prove(run, another_secret));
    CHECK(notices.prove(run, secret));
}

TEST_CASE("transport: the secret of a run is the word of its death") {
    Voter one;
    const RawSocket session = one.call(hello_with(commitment_to(secret)));
    REQUIRE(one.heard(1));
    const RawSocket mourner = one.call(notice_frame(Mourn{}));
    SUBCASE("on the connection that waits for it") {
        one.settle();
        mourner.send(notice_frame(Dead{secret}));
        REQUIRE(run_until(one.io, [&] { return one.deaths() == 1; }));
        CHECK(one.closes(mourner));
    }
    SUBCASE("on a new one") {
        const RawSocket other = one.call(notice_frame(Dead{secret}));
        REQUIRE(run_until(one.io, [&] { return one.deaths() == 1; }));
        CHECK(one.closes(other));
    }
    CHECK(one.host.recorder.all<Died>()[0] == Died{holder, run.incarnation});
}

// N3.1
TEST_CASE("transport: whoever does not show the secret is not believed") {
    Voter one;
    const RawSocket session = one.call(hello_with(commitment_to(secret)));
    REQUIRE(one.heard(1));
    SUBCASE("another one") { CHECK(one.closes(one.call(notice_frame(Dead{another_secret})))); }
    SUBCASE("the commitment itself") {
        const protocol::Commitment known = commitment_to(secret);
        CHECK(one.closes(
            one.call(notice_frame(Dead{{known.first, known.second, known.third, known.fourth}}))));
    }
    SUBCASE("of another run") {
        CHECK(one.closes(one.call(notice_frame(Dead{secret}, Sender{holder, {1}}))));
    }
    SUBCASE("in another member's name") {
        CHECK(one.closes(one.call(notice_frame(Dead{secret}, Sender{{3}, run.incarnation}))));
    }
    SUBCASE("to mourn twice is nothing") {
        std::vector<std::byte> twice = notice_frame(Mourn{});
        const std::vector<std::byte> again = notice_frame(Mourn{});
        twice.insert(twice.end(), again.begin(), again.end());
        CHECK(one.closes(one.call(twice)));
    }
    SUBCASE("a message of the session, where one mourns") {
        std::vector<std::byte> bytes = notice_frame(Mourn{});
        const std::vector<std::byte> more = frame_of(holder, protocol::Heartbeat{});
        bytes.insert(bytes.end(), more.begin(), more.end());
        CHECK(one.closes(one.call(bytes)));
        CHECK(one.host.recorder.all<protocol::SessionEnded>().empty());
    }
    CHECK(one.deaths() == 0);
}

TEST_CASE("transport: without a commitment nobody mourns, and nobody's death is believed") {
    Voter one;
    const RawSocket session = one.call(hello_with({}));
    REQUIRE(one.heard(1));
    CHECK(one.closes(one.call(notice_frame(Mourn{}))));
    CHECK(one.closes(one.call(notice_frame(Dead{}))));
    CHECK(one.deaths() == 0);
}

TEST_CASE("transport: a HELLO that is refused commits nobody") {
    Voter one;
    one.host.recorder.refuse = true;
    const RawSocket session = one.call(hello_with(commitment_to(secret)));
    REQUIRE(one.heard(1));
    CHECK(one.closes(one.call(notice_frame(Dead{secret}))));
    CHECK(one.deaths() == 0);
}

// N1.3
TEST_CASE("transport: two mourn for a run, and the newest stay") {
    Voter one;
    const RawSocket session = one.call(hello_with(commitment_to(secret)));
    REQUIRE(one.heard(1));
    const RawSocket oldest = one.call(notice_frame(Mourn{}));
    one.settle();
    const RawSocket second = one.call(notice_frame(Mourn{}));
    one.settle();
    const RawSocket third = one.call(notice_frame(Mourn{}));
    CHECK(one.closes(oldest));
    second.send(notice_frame(Dead{secret}));
    third.send(notice_frame(Dead{secret}));
    CHECK(one.closes(second));
    CHECK(one.closes(third));
    CHECK(one.deaths() == 1);  // it is told once
}

// N1.3
TEST_CASE("transport: a secured node takes notices in plain text, and nothing else") {
    auto context = TlsContext::make(key_credentials({key_of(1)}), Bearer{"blue", voter}).value();
    Voter one([&](TransportOptions& options) { options.security = context; });
    // Nobody has been authenticated, so no run is known.
    CHECK(one.closes(one.call(notice_frame(Mourn{}))));
    SUBCASE("a request in its place") {
        std::vector<std::byte> bytes = notice_frame(Mourn{});
        const std::vector<std::byte> more =
            observer_frame(Observe{"blue", ObserveWhat::status, protocol::nobody});
        bytes.insert(bytes.end(), more.begin(), more.end());
        CHECK(one.closes(one.call(bytes)));
    }
    SUBCASE("what only looks like one at first") {
        std::vector<std::byte> bytes = hello_with(commitment_to(secret));
        bytes[4] = std::byte{16};
        CHECK(one.closes(one.call(bytes)));
    }
    CHECK(one.host.recorder.observers.empty());
    CHECK(one.host.recorder.all<protocol::HelloReceived>().empty());
}

}  // namespace bullring::transport_notices_test
