// Owns: the connections whose TLS handshake is under way, dialled and accepted. A handshake is work
// for the processor that anybody can ask for, so there is at most one step of one of them in a turn
// of the loop, those of members first: heartbeats are never further away than that. Knows nothing
// of what is said on a connection afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "src/base/os/owned_fd.hpp"
#include "src/node/net/dial.hpp"
#include "src/security/tls_connection.hpp"

namespace bullring {

class Handshakes {
public:
    struct Failure {
        Dial dial;
        std::string remote;  // its address
        std::string why;     // empty when there is nothing to say
        bool late = false;   // it has taken too long, or had to make room
    };
    struct Callbacks {
        std::function<void(Dial, OwnedFd, std::unique_ptr<TlsConnection>)> done;
        std::function<void(const Failure&)> failed;
        /// An accepted connection that has begun with a frame, where that may be.
        std::function<void(OwnedFd)> plain;
        /// Whether a MOURN is of a run that is known.
        std::function<bool(std::span<const std::byte>)> may_mourn;
        /// An accepted connection that has begun with such a MOURN.
        std::function<void(OwnedFd)> notice;
    };
    struct Limits {
        std::chrono::nanoseconds time;
        std::size_t of_address = 4;     // accepted from one address that is no member's
        std::size_t of_strangers = 32;  // accepted from all such addresses
    };

    Handshakes(asio::io_context& io, const Limits& limits, bool plain_too, Callbacks callbacks);
    ~Handshakes();
    Handshakes(const Handshakes&) = delete;
    Handshakes& operator=(const Handshakes&) = delete;

    void dial(Dial dial, OwnedFd fd, std::shared_ptr<const TlsContext> context);
    /// From a member's address, or from elsewhere: then it may have to make room for the next, or
    /// may find none.
    void accept(OwnedFd fd, std::shared_ptr<const TlsContext> context, bool member);
    std::size_t accepted() const { return accepted_; }
    /// Of the accepted ones the oldest from a stranger, or else the oldest. False: there is none.
    bool give_up_one(bool strangers_only);
    void stop();

private:
    using Clock = std::chrono::steady_clock;
    struct Entry {
        Entry(asio::io_context& io, int fd) : descriptor(io, fd), deadline(io) {}
        asio::posix::stream_descriptor descriptor;
        asio::steady_timer deadline;
        std::shared_ptr<const TlsContext> context;
        std::unique_ptr<TlsConnection> connection;  // accepted: when it has said that it is one
        Dial dial;
        std::string remote;
        std::string host;
        bool member = true;
        Clock::time_point begun;
    };
    using Id = std::uint64_t;

    Entry& add(OwnedFd fd, std::shared_ptr<const TlsContext> context, Id& id);
    void wait(Id id, asio::posix::descriptor_base::wait_type what);
    void take_turn(Id id);
    void turn();
    void work(Id id);
    /// False when it is no TLS, and has been dealt with.
    bool look_at_first_byte(Id id, Entry& entry);
    bool make_room_for_stranger(const std::string& host);
    void give_up(Id id);
    std::unique_ptr<Entry> take(Id id);
    void fail(Id id, std::string why, bool late);

    asio::io_context& io_;
    Limits limits_;
    bool plain_too_;
    Callbacks callbacks_;
    std::map<Id, std::unique_ptr<Entry>> entries_;  // oldest first
    std::deque<Id> members_turn_, strangers_turn_;
    bool turning_ = false;
    std::size_t accepted_ = 0;
    Id last_id_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what has been posted
};

}  // namespace bullring
