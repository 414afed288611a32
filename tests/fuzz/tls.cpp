// The first bytes of connections to a secured port, with keys and with certificates, in pieces of
// any sizes: a stranger's, and those of a handshake between two ends that are what they say, which
// somebody on the way changes, leaves out, repeats or adds to. Whoever has no credentials is never
// let in, holds little memory and gets little to read; who is let in is who he is; what is read
// afterwards is what was sent, and an end is one only where it was said.
#include <array>
#include <memory>

#include <sys/socket.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"
#include "src/base/text/text.hpp"
#include "src/security/tls_connection.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/openssl_chance.hpp"
#include "tests/support/credentials.hpp"

/// Of the sanitizers, whose header is not installed with the compiler.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();

using namespace bullring;
using fuzz::expect;
using protocol::NodeId;

namespace {

/// A handshake's buffers and what OpenSSL keeps of a hello of 128 KiB, the largest that it reads.
constexpr std::size_t bytes_held_max = std::size_t{1} << 20U;
/// A flight with a certificate is a tenth of it.
constexpr std::size_t answer_bytes_max = std::size_t{16} << 10U;
constexpr std::size_t turns_max = 1000;

using Context = std::shared_ptr<const TlsContext>;
using Bytes = std::vector<std::byte>;
using Step = TlsConnection::Step;

// ---- Who takes part.

Context context_of(Credentials credentials, std::uint64_t node, const std::string& cluster) {
    auto made = TlsContext::make(std::move(credentials), Bearer{cluster, NodeId{node}});
    expect(made.has_value(), "credentials that OpenSSL does not take");
    return *made;
}

/// An acceptor, node 2 of `blue`; node 1, and those who resemble it.
struct Company {
    Context acceptor;
    Context member;
    std::array<Context, 4> others;
};

Company with_keys() {
    const auto keyed = [](std::uint8_t value, std::uint64_t node, const char* cluster) {
        Key key = test::key_of(value);
        key.id = "00000001";
        return context_of(test::key_credentials({key}, {test::key_of(3)}), node, cluster);
    };
    return {keyed(1, 2, "blue"),
            keyed(1, 1, "blue"),
            {keyed(2, 1, "blue"), keyed(1, 1, "red"),
             context_of(test::key_credentials({test::key_of(3)}), 1, "blue"),
             context_of(test::TestCa().node(1), 1, "blue")}};
}

Company with_certificates() {
    const test::TestCa ca;
    const test::TestCa other;
    test::CertificateWish late;
    late.uris = {"bullring://blue/node/1"};
    late.to_hours = 0;
    return {context_of(ca.node(2), 2, "blue"),
            context_of(ca.node(1), 1, "blue"),
            {context_of(other.node(1), 1, "blue"), context_of(ca.node(1, "red"), 1, "blue"),
             context_of(ca.issue(late), 1, "blue"),
             context_of(test::key_credentials({test::key_of(1)}), 1, "blue")}};
}

std::array<Company, 2> everybody() {
    fuzz::without_chance();
    return {with_keys(), with_certificates()};
}

/// One end, and the far side of its connection.
class End {
public:
    explicit End(std::unique_ptr<TlsConnection> tls) : tls_(std::move(tls)) {
        std::array<int, 2> pair{};
        expect(
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) == 0,
            "there are no sockets");
        own_ = OwnedFd(pair[0]);
        far_ = OwnedFd(pair[1]);
    }

    /// As far as it gets with what has come.
    void turn() {
        for (std::size_t turns = 0; !over(); ++turns) {
            expect(turns < turns_max, "a handshake without end");
            step_ = tls_->step(own_.get());
            if (!over() && !readable()) return;
        }
        const std::string& problem = tls_->problem();
        expect(problem == one_line(problem), "a problem that a terminal would obey");
    }
    void hear(std::span<const std::byte> bytes) const {
        ::send(far_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    Bytes said() const {
        Bytes bytes(answer_bytes_max + 1);
        const ssize_t count = ::recv(far_.get(), bytes.data(), bytes.size(), 0);
        bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
        return bytes;
    }
    /// No more will come.
    void end() const { ::shutdown(far_.get(), SHUT_WR); }

    bool over() const { return step_ == Step::done || step_ == Step::failed; }
    bool let_in() const { return step_ == Step::done; }
    TlsConnection& tls() { return *tls_; }
    int socket() const { return own_.get(); }

private:
    bool readable() const {
        std::byte one{};
        return ::recv(own_.get(), &one, 1, MSG_PEEK) >= 0;
    }

    std::unique_ptr<TlsConnection> tls_;
    OwnedFd own_, far_;
    Step step_ = Step::wants_read;
};

// ---- On the way.

class Wire {
public:
    explicit Wire(fuzz::Input& input) : input_(input) {}

    /// The part of a flight that arrives.
    Bytes changed(Bytes flight) {
        for (std::size_t times = input_.below(4); times > 0; --times) {
            changed_ = true;
            change(flight);
        }
        if (!flight.empty()) earlier_ = flight;
        return flight;
    }
    void deliver(const Bytes& flight, End& to) {
        const std::size_t piece = 1 + std::size_t{input_.number()} * 16;
        for (std::size_t at = 0; at < flight.size() && !to.over(); at += piece) {
            to.hear(std::span(flight).subspan(at, std::min(piece, flight.size() - at)));
            to.turn();
        }
    }
    bool touched() const { return changed_; }

private:
    void change(Bytes& flight) {
        const std::size_t at = flight.empty() ? 0 : input_.number<std::uint16_t>() % flight.size();
        const auto place = flight.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t count = std::min<std::size_t>(input_.number(), flight.size() - at);
        switch (input_.below(6)) {
            case 0:
                if (!flight.empty()) *place ^= std::byte{1} << input_.below(8);
                return;
            case 1: flight.erase(place, place + static_cast<std::ptrdiff_t>(count)); return;
            case 2: flight.resize(at); return;
            case 3: {
                const Bytes part(place, place + static_cast<std::ptrdiff_t>(count));
                flight.insert(flight.begin() + static_cast<std::ptrdiff_t>(at), part.begin(),
                              part.end());
                return;
            }
            case 4: flight.insert(place, earlier_.begin(), earlier_.end()); return;
            default: {
                const auto said = std::as_bytes(std::span(input_.text(255)));
                flight.insert(place, said.begin(), said.end());
                return;
            }
        }
    }

    fuzz::Input& input_;
    Bytes earlier_;
    bool changed_ = false;
};

/// Somebody who has nothing but what he says.
void stranger(fuzz::Input& input, const Company& company) {
    const std::size_t before = __sanitizer_get_current_allocated_bytes();
    End acceptor(TlsConnection::from_anybody(company.acceptor));
    std::size_t answered = 0;
    while (!input.empty() && !acceptor.over()) {
        // One byte says how often: many short words are as good as long ones.
        const std::size_t times = 1 + (input.flag() ? input.number() : 0U);
        const auto said = std::as_bytes(std::span(input.text(255)));
        for (std::size_t i = 0; i < times && !acceptor.over(); ++i) {
            acceptor.hear(said);
            acceptor.turn();
            answered += acceptor.said().size();
        }
        expect(__sanitizer_get_current_allocated_bytes() < before + bytes_held_max,
               "a stranger holds memory");
    }
    acceptor.end();
    acceptor.turn();
    answered += acceptor.said().size();
    expect(acceptor.over() && !acceptor.let_in(), "a stranger is let in");
    expect(answered <= answer_bytes_max, "a stranger gets much to read");
}

/// The bytes that the other end reads are a beginning of those that were sent; the stream ends
/// where its end was sent.
void talk(fuzz::Input& input, Wire& wire, End& from, End& to) {
    const std::string_view said = input.text(64);
    if (!said.empty()) from.tls().write(from.socket(), std::as_bytes(std::span(said)));
    const bool ends = input.flag();
    if (ends) from.tls().say_end(from.socket());
    const Bytes arrived = wire.changed(from.said());
    to.hear(arrived);
    to.end();
    std::string heard;
    while (true) {
        std::array<std::byte, 100> piece{};
        const IoResult result = to.tls().read(to.socket(), piece);
        if (result.status == IoStatus::done) {
            heard.append(reinterpret_cast<const char*>(piece.data()), result.bytes);
            continue;
        }
        expect(said.substr(0, heard.size()) == heard, "words that nobody said");
        if (result.status == IoStatus::eof)
            expect(ends && heard == said, "an end that nobody said");
        else
            expect(wire.touched() || (!ends && heard == said), "words that were lost");
        return;
    }
}

/// A handshake, with somebody on the way.
void on_the_way(fuzz::Input& input, const Company& company) {
    const bool member = input.flag();
    const Context& who = member ? company.member : company.others[input.below(4)];
    End dialler(TlsConnection::to(who, NodeId{2}));
    End acceptor(TlsConnection::from_anybody(company.acceptor));
    Wire wire(input);
    for (std::size_t flights = 0; flights < 4; ++flights) {
        dialler.turn();
        wire.deliver(wire.changed(dialler.said()), acceptor);
        wire.deliver(wire.changed(acceptor.said()), dialler);
    }
    if (acceptor.let_in()) {
        expect(member, "one is let in who has no credentials");
        expect(acceptor.tls().peer() == PeerIdentity{PeerRole::member, NodeId{1}},
               "one is let in as another one");
    }
    if (dialler.let_in())
        expect(dialler.tls().peer() == PeerIdentity{PeerRole::member, NodeId{2}},
               "another one is dialled");
    if (!dialler.let_in() || !acceptor.let_in())
        return expect(wire.touched() || !member, "a member is not let in");
    if (input.flag()) return talk(input, wire, dialler, acceptor);
    talk(input, wire, acceptor, dialler);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::array companies = everybody();
    fuzz::random_numbers() = protocol::Rng(1);
    fuzz::Input input(data, size);
    const Company& company = companies[input.flag() ? 1 : 0];
    if (input.flag())
        on_the_way(input, company);
    else
        stranger(input, company);
    return 0;
}
