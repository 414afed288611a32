// Owns: one connection of an undertaker with one member, and the wish for it: it is made again as
// often as it ends, until the last word has been said and taken. By system calls alone, without
// allocations: it may run in the copy of a process that had many threads.
#pragma once

#include <cstdint>

#include <poll.h>
#include <sys/socket.h>

#include "src/base/os/owned_fd.hpp"
#include "src/watch/undertaker/undertaker_orders.hpp"

namespace bullring {

/// Instants are by CLOCK_BOOTTIME, in ns.
class Mourner {
public:
    /// A new connection, at once.
    void begin(const UndertakerOrder& where, std::int64_t now);
    std::uint64_t peer() const { return peer_; }

    /// The node has ended: its last word is said on the connection, or on the next one.
    void node_ended(std::int64_t now);
    /// It has been said, and no answer is known yet, or none is needed any more.
    bool has_spoken() const { return state_ == State::said || done(); }
    /// It has been said, and the member has taken it, or does not want to hear it.
    bool done() const { return state_ == State::done; }

    /// The events to wait for.
    pollfd waits_for() const;
    /// When to look in any case; INT64_MAX: never.
    std::int64_t look_at() const { return look_at_; }
    /// After either of them.
    void look(short ready, std::int64_t now, const UndertakerOrder& words);

private:
    enum class State { pausing, connecting, standing, said, done };

    void connect(std::int64_t now);
    void on_connected(std::int64_t now, const UndertakerOrder& words);
    void on_readable(std::int64_t now);
    void say_last(std::int64_t now, const UndertakerOrder& words);
    void pause(std::int64_t now);
    bool send(const UndertakerOrder::Word& word) const;

    State state_ = State::done;
    bool node_ended_ = false;
    std::uint64_t peer_ = 0;
    sockaddr_storage address_{};
    socklen_t address_bytes_ = 0;
    OwnedFd socket_;
    std::int64_t look_at_ = INT64_MAX;
    std::int64_t stands_since_ = 0;
    std::int64_t pause_ns_ = 0;
};

}  // namespace bullring
