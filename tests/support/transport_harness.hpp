// Two ends of a connection for tests of the transport: a handler that remembers what it was told,
// and a bare socket that says what it likes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include "protocol/values/events.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/os/tcp.hpp"
#include "src/node/net/transport.hpp"
#include "src/wire/codec.hpp"

namespace bullring::test {

/// Runs the loop until `done`; false after a generous deadline.
bool run_until(asio::io_context& io, const std::function<bool()>& done);

/// A listener on a port that the kernel has chosen.
struct BoundListener {
    std::vector<OwnedFd> fds;
    Endpoint at;
};
BoundListener listen_anywhere(const std::string& host = "127.0.0.1");

inline constexpr protocol::Incarnation incarnation_of(protocol::NodeId id) {
    return {id.value * 1000 + 7};
}

/// Answers handshakes as a node does, and remembers everything.
class Recorder final : public TransportHandler {
public:
    explicit Recorder(protocol::NodeId self) : self_(self) {}

    void on_event(const protocol::Event& event) override;
    void on_request(protocol::SessionId observer, const ObserverMessage& what) override;
    void on_observer_gone(protocol::SessionId observer) override;
    void on_fatal(const std::string& what) override { fatal = what; }

    template <typename What>
    std::vector<What> all() const {
        std::vector<What> found;
        for (const protocol::Event& event : events) {
            if (const auto* one = std::get_if<What>(&event)) found.push_back(*one);
        }
        return found;
    }
    /// How the session has ended; nothing while it has not.
    std::vector<protocol::SessionEnd> ends(protocol::SessionId session) const;
    /// The messages that were received on it after the handshake.
    std::size_t heartbeats() const;

    Transport* transport = nullptr;
    bool answer = true;   // HELLO with HELLO_ACK
    bool refuse = false;  // … or with REFUSED, and closes
    protocol::Refused refusal{"cluster", "a", "b"};
    std::uint16_t version = protocol::version_lowest;  // that HELLO_ACK says
    bool say_hello = true;                             // on what was dialled
    std::function<void(const protocol::Event&)> then;  // after each event
    std::vector<protocol::Event> events;
    std::vector<std::pair<protocol::SessionId, ObserverMessage>> observers;
    std::vector<protocol::SessionId> observers_gone;
    std::string fatal;

private:
    protocol::NodeId self_;
};

/// A transport with its recorder on a loop of its own or of the test.
struct Host {
    Host(asio::io_context& io, protocol::NodeId self, const PeerList& peers,
         const std::function<void(TransportOptions&)>& change = {});
    Recorder recorder;
    Transport transport;
};

/// A blocking socket with a deadline on every read.
class RawSocket {
public:
    /// `receive_bytes` 0 and `from` empty leave the kernel's choice.
    static RawSocket connect(const Endpoint& to, int receive_bytes = 0,
                             const std::string& from = "");
    static RawSocket accept(const BoundListener& from);
    explicit RawSocket(OwnedFd fd);

    int fd() const { return fd_.get(); }
    void send(const std::vector<std::byte>& bytes) const;
    /// Bytes read, 0 at the end, −errno.
    long read_some(std::span<std::byte> into) const;
    /// Reads to the end: 0 for FIN, else the error's number.
    int read_to_end() const;
    void close() { fd_ = OwnedFd(); }

private:
    OwnedFd fd_;
};

std::vector<std::byte> frame_of(protocol::NodeId sender, const protocol::Message& message);
std::vector<std::byte> hello_frame(protocol::NodeId sender);
std::vector<std::byte> observer_frame(const ObserverMessage& message);

/// Runs `body` in a child process, which ends with it. fork() and not a thread: what is tested is
/// what the kernel does when a process dies.
class Child {
public:
    explicit Child(const std::function<void()>& body);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() { kill_now(); }

    int pid() const { return pid_; }
    void send_signal(int signal) const;
    /// SIGKILL; returns when the process is gone, its files closed.
    void kill_now();

private:
    int pid_ = -1;
};

}  // namespace bullring::test
