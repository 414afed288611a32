// Owns: one connection. Bytes come in and leave as whole frames; frames go out through a bounded
// outbox. Knows nothing of what the frames mean, nor when a connection may be closed: that is
// Transport's. Must never close the stream because it has read an end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/events.hpp"
#include "src/node/net/outbox.hpp"
#include "src/node/net/stream.hpp"
#include "src/wire/framing.hpp"

namespace bullring {

class Session;

class SessionOwner {
public:
    SessionOwner() = default;
    SessionOwner(const SessionOwner&) = delete;
    SessionOwner& operator=(const SessionOwner&) = delete;
    virtual ~SessionOwner() = default;

    /// The next whole frame. The owner may close the session meanwhile: then no more of them come.
    virtual void on_frame(Session& session, Frame frame) = 0;
    /// Once, after all earlier frames; `why` is for people. Never after close().
    virtual void on_end(Session& session, protocol::SessionEnd how, const std::string& why) = 0;
    /// A reader has thrown: the node can't go on.
    virtual void on_reader_failed(const std::string& what) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
public:
    struct Limits {
        std::size_t outbox_bytes;
        /// A frame that has begun and is not whole after this time never will be: a damaged length
        /// would make the session deaf without an end.
        std::chrono::nanoseconds frame_time;
    };

    Session(asio::io_context& io, protocol::SessionId id, std::unique_ptr<Stream> stream,
            const Limits& limits, SessionOwner& owner);

    protocol::SessionId id() const { return id_; }
    void start_reading();
    /// From now on what comes is read and thrown away: only the end matters.
    void discard_input() { discarding_ = true; }
    /// Held, it neither reads nor writes; what has come and what is to be sent waits until it is
    /// let go.
    void hold(bool held);
    int descriptor() const { return stream_->descriptor().native_handle(); }
    /// The handshake is done: frames of this version come, and long ones.
    void established(std::uint16_t spoken) {
        reader_.set_frame_bytes_max(frame_bytes_max);
        reader_.set_version(spoken);
    }

    /// False when the outbox is full.
    bool push(Outbox::Kind kind, std::span<const std::byte> frame);
    /// Sends what waits, now and in one call; the rest follows when the kernel has room.
    void flush();
    bool drained() const { return outbox_.empty() && !stream_->unsent(); }

    /// Sends what waits, then closes. Nothing is reported any more.
    void close();
    /// Closes now; what waits is lost.
    void abandon();
    bool closed() const { return closed_; }

private:
    asio::awaitable<void> read_until_end();
    void read_once();
    void deliver_frames();
    void watch_frame();
    void end(protocol::SessionEnd how, const std::string& why);
    void wait_for_room();
    bool reading() const { return !ended_ && !closed_; }

    asio::io_context& io_;
    protocol::SessionId id_;
    std::unique_ptr<Stream> stream_;
    SessionOwner& owner_;
    FrameReader reader_;
    Outbox outbox_;
    std::chrono::nanoseconds frame_time_max_;
    asio::steady_timer frame_deadline_;
    asio::steady_timer let_go_;  // cancelled when it is
    bool held_ = false;
    bool watching_frame_ = false;
    std::uint64_t frames_ = 0;  // whole ones
    bool discarding_ = false;
    bool waiting_for_room_ = false;
    bool ended_ = false;    // reported; nothing can be read any more
    bool closing_ = false;  // closed as soon as the outbox is empty
    bool closed_ = false;
};

}  // namespace bullring
