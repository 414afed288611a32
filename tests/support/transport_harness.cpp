#include "tests/support/transport_harness.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/generous.hpp"

namespace bullring::test {

using protocol::NodeId;
using protocol::SessionEnd;
using protocol::SessionId;

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

bool run_until(asio::io_context& io, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + generous;
    while (!done()) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        io.restart();
        io.run_one_for(std::chrono::milliseconds(50));
    }
    return true;
}

BoundListener listen_anywhere(const std::string& host) {
    auto fds = tcp::listen_on({host, 0});
    if (!fds) throw std::runtime_error(fds.error());
    sockaddr_storage at{};
    socklen_t length = sizeof at;
    if (::getsockname(fds->front().get(), reinterpret_cast<sockaddr*>(&at), &length) != 0) {
        fail("getsockname");
    }
    // The port stands at the same place in both families.
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&at);
    return {std::move(*fds), {host, ntohs(v4->sin_port)}};
}

// ---- Recorder.

void Recorder::on_event(const protocol::Event& event) {
    events.push_back(event);
    if (const auto* dialled = std::get_if<protocol::Dialled>(&event)) {
        if (say_hello) {
            protocol::Hello hello;
            hello.id = self_;
            hello.incarnation = incarnation_of(self_);
            hello.session = dialled->session;
            hello.addresses = dialled->addresses;
            transport->send(dialled->session, hello);
        }
    } else if (const auto* hello = std::get_if<protocol::HelloReceived>(&event)) {
        if (refuse) {
            transport->send(hello->session, refusal);
            transport->close(hello->session);
        } else if (answer) {
            protocol::HelloAck ack;
            ack.id = self_;
            ack.incarnation = incarnation_of(self_);
            ack.version = version;
            transport->send(hello->session, ack);
        }
    }
    transport->flush();
    if (then) then(event);
}

void Recorder::on_request(SessionId observer, const ObserverMessage& what) {
    observers.emplace_back(observer, what);
}

void Recorder::on_observer_gone(SessionId observer) { observers_gone.push_back(observer); }

std::vector<SessionEnd> Recorder::ends(SessionId session) const {
    std::vector<SessionEnd> found;
    for (const auto& ended : all<protocol::SessionEnded>()) {
        if (ended.session == session) found.push_back(ended.how);
    }
    return found;
}

std::size_t Recorder::heartbeats() const {
    std::size_t count = 0;
    for (const auto& received : all<protocol::Receive>()) {
        if (std::holds_alternative<protocol::Heartbeat>(received.message)) ++count;
    }
    return count;
}

namespace {

TransportOptions options_of(NodeId self, const PeerList& peers,
                            const std::function<void(TransportOptions&)>& change) {
    TransportOptions options;
    options.self = {self, incarnation_of(self)};
    options.peers = peers;
    options.handshake_max = protocol::seconds(20);
    options.seed = 1;
    if (change) change(options);
    return options;
}

}  // namespace

Host::Host(asio::io_context& io, NodeId self, const PeerList& peers,
           const std::function<void(TransportOptions&)>& change)
    : recorder(self), transport(io, options_of(self, peers, change), recorder) {
    recorder.transport = &transport;
}

// ---- RawSocket.

RawSocket::RawSocket(OwnedFd fd) : fd_(std::move(fd)) {
    const timeval deadline{generous.count(), 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
}

RawSocket RawSocket::connect(const Endpoint& to, int receive_bytes, const std::string& from) {
    const auto address = tcp::numeric_addresses(to).at(0);
    OwnedFd fd(::socket(address.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) fail("socket");
    if (receive_bytes != 0) {
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    if (!from.empty()) {
        const auto own = tcp::numeric_addresses({from, 0}).at(0);
        if (::bind(fd.get(), own.data(), static_cast<socklen_t>(own.size())) != 0) fail("bind");
    }
    if (::connect(fd.get(), address.data(), static_cast<socklen_t>(address.size())) != 0) {
        fail("connect");
    }
    return RawSocket(std::move(fd));
}

RawSocket RawSocket::accept(const BoundListener& from) {
    pollfd ready{from.fds.front().get(), POLLIN, 0};
    ::poll(&ready, 1, static_cast<int>(generous.count()) * 1000);
    OwnedFd fd(::accept4(ready.fd, nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) fail("accept");
    return RawSocket(std::move(fd));
}

void RawSocket::send(const std::vector<std::byte>& bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count =
            ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (count < 0) fail("send");
        done += static_cast<std::size_t>(count);
    }
}

long RawSocket::read_some(std::span<std::byte> into) const {
    const ssize_t count = ::recv(fd_.get(), into.data(), into.size(), 0);
    return count < 0 ? -errno : count;
}

int RawSocket::read_to_end() const {
    std::array<std::byte, 4096> buffer;
    while (true) {
        const long count = read_some(buffer);
        if (count == 0) return 0;
        if (count < 0) return static_cast<int>(-count);
    }
}

std::vector<std::byte> frame_of(NodeId sender, const protocol::Message& message) {
    std::vector<std::byte> bytes;
    encode({sender, incarnation_of(sender)}, message, protocol::version_lowest, bytes);
    return bytes;
}

std::vector<std::byte> hello_frame(NodeId sender) {
    protocol::Hello hello;
    hello.id = sender;
    hello.incarnation = incarnation_of(sender);
    hello.session = {1};
    return frame_of(sender, hello);
}

std::vector<std::byte> observer_frame(const ObserverMessage& message) {
    std::vector<std::byte> bytes;
    encode(Sender{}, message, bytes);
    return bytes;
}

// ---- Child.

Child::Child(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ < 0) fail("fork");
    if (pid_ != 0) return;
    try {
        body();
    } catch (...) {
        ::_exit(1);
    }
    ::_exit(0);
}

void Child::send_signal(int signal) const { ::kill(pid_, signal); }

void Child::kill_now() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

}  // namespace bullring::test
