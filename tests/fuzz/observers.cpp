// The first bytes of connections to a node's port, rubbish and frames that are what their head
// says, over real sockets: what strangers, members and observers may send before anybody knows
// them. Whatever it is, the node goes on, answers in whole frames, and ends the connections that it
// has no use for; an observer's request is answered, and nobody is asked to resign more often than
// allowed.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/os/tcp.hpp"
#include "src/node/net/transport.hpp"
#include "src/node/observers/observer_sessions.hpp"
#include "src/wire/framing.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/sealed_frame.hpp"

using namespace bullring;
using fuzz::expect;
using protocol::NodeId;
using protocol::SessionId;

namespace {

constexpr NodeId self{1};
constexpr Sender own{self, {7}};

class Node final : public TransportHandler {
public:
    Node()
        : transport_(io_, options(), *this),
          sessions_(io_, transport_, own, "blue",
                    {.ts_ns = 5, .leader = {3}, .epoch = {7}, .advertised = "here"},
                    {[](SessionId) { return std::string(R"({"a":1})"); },
                     [this](NodeId to, std::uint64_t request) { resign(to, request); },
                     [](const Drill&) {
                         return ObserverSessions::DrillAnswer{{}, {}};
                     },
                     [this](const protocol::MemberChange&, std::uint64_t request) {
                         changes_.push_back(request);
                     },
                     [] { return protocol::ClusterId(); }, [](const AskedAction&) {}, [] {}}) {
        auto listeners = tcp::listen_on({"127.0.0.1", 0});
        expect(listeners.has_value(), "there is nothing to listen on");
        socklen_t length = sizeof address_;
        expect(::getsockname(listeners->front().get(), reinterpret_cast<sockaddr*>(&address_),
                             &length) == 0,
               "it listens nowhere");
        transport_.listen(std::move(*listeners));
    }

    OwnedFd connect() {
        OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        const int now = 1;
        ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
        return fd;
    }
    void turn() {
        io_.restart();
        io_.poll();
        flush_resigns();
        for (const std::uint64_t request : std::exchange(changes_, {}))
            sessions_.on_members_answer(
                {{protocol::Asker::observer, request}, request % 2 == 0, "not now", false});
        transport_.flush();
    }
    std::size_t ended() const { return ended_; }

private:
    static TransportOptions options() {
        TransportOptions result;
        result.self = own;
        result.peers = {{self, {"127.0.0.1", 1}}, {{2}, {"127.0.0.2", 1}}};
        return result;
    }

    void on_event(const protocol::Event& event) override {
        if (const auto* hello = std::get_if<protocol::HelloReceived>(&event)) {
            // As the first bytes of it say.
            if (hello->hello.fast_release != protocol::FastRelease::off) {
                protocol::HelloAck ack;
                ack.id = self;
                ack.incarnation = own.incarnation;
                transport_.send(hello->session, ack);
            } else {
                transport_.send(hello->session, protocol::Refused{"cluster", "blue", "green"});
                transport_.close(hello->session);
            }
            transport_.flush();
        } else if (std::holds_alternative<protocol::SessionEnded>(event)) {
            ++ended_;
        }
    }
    void on_request(SessionId observer, const ObserverMessage& what) override {
        sessions_.on_request(observer, what);
        transport_.flush();
    }
    void on_observer_gone(SessionId observer) override { sessions_.on_gone(observer); }
    void on_fatal(const std::string& what) override {
        fuzz::broken(what, std::source_location::current());
    }

    void resign(NodeId /*to*/, std::uint64_t request) { resigns_.push_back(request); }
    void flush_resigns() {
        expect(resigns_.size() <= ObserverSessions::resigns_at_once, "asked to resign too often");
        for (const std::uint64_t request : std::exchange(resigns_, {}))
            sessions_.on_resign_answer(
                {{protocol::Asker::observer, request}, request % 2 == 0, "not now", false});
        transport_.flush();
    }

    asio::io_context io_{1};
    sockaddr_in address_{};
    Transport transport_;
    ObserverSessions sessions_;
    std::vector<std::uint64_t> resigns_;
    std::vector<std::uint64_t> changes_;
    std::size_t ended_ = 0;
};

/// The other end of a connection.
class Stranger {
public:
    explicit Stranger(OwnedFd fd) : fd_(std::move(fd)) {}

    void say(std::span<const std::byte> bytes) const {
        ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    /// Every arrival is whole frames of the node's.
    void listen() {
        while (true) {
            const auto room = reader_.prepare();
            const ssize_t count = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
            if (count <= 0) return;
            reader_.commit(static_cast<std::size_t>(count));
            while (true) {
                const auto frame = reader_.next();
                expect(frame.has_value(), "an answer that is no frame");
                if (!*frame) break;
                expect((*frame)->sender == own, "an answer in another's name");
            }
        }
    }

private:
    OwnedFd fd_;
    FrameReader reader_{frame_bytes_max};
};

/// Closing all of them by RST leaves no port behind in TIME_WAIT.
void reset_at_close(int fd) {
    const linger at_once{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Node node;
    fuzz::Input input(data, size);
    std::vector<Stranger> strangers;
    for (std::size_t count = 1 + input.below(3); count > 0; --count) {
        OwnedFd fd = node.connect();
        reset_at_close(fd.get());
        strangers.emplace_back(std::move(fd));
    }
    while (!input.empty()) {
        const std::size_t what = input.number();
        std::vector<std::byte> part = fuzz::bytes_of(input.long_text(frame_bytes_max));
        if (what % 4 != 0) {
            part.resize(std::max(part.size(), frame_head_bytes));
            fuzz::seal(part);
        }
        Stranger& stranger = strangers[what / 4 % strangers.size()];
        stranger.say(part);
        if (what >= 128) node.turn();
        stranger.listen();
    }
    node.turn();
    for (Stranger& stranger : strangers) stranger.listen();
    strangers.clear();
    node.turn();
    return 0;
}
