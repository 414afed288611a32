#include "src/node/net/session.hpp"

#include <array>
#include <exception>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/text/failure_text.hpp"

namespace bullring {

using protocol::SessionEnd;

namespace {

using Wait = asio::posix::descriptor_base;

SessionEnd end_of(IoStatus status) {
    if (status == IoStatus::eof) return SessionEnd::eof;
    if (status == IoStatus::truncated) return SessionEnd::truncated;
    if (status == IoStatus::timeout) return SessionEnd::timeout;
    if (status == IoStatus::unusable) return SessionEnd::overflow;
    return SessionEnd::reset;
}

}  // namespace

Session::Session(asio::io_context& io, protocol::SessionId id, std::unique_ptr<Stream> stream,
                 const Limits& limits, SessionOwner& owner)
    : io_(io),
      id_(id),
      stream_(std::move(stream)),
      owner_(owner),
      outbox_(limits.outbox_bytes),
      frame_time_max_(limits.frame_time),
      frame_deadline_(io),
      let_go_(io, asio::steady_timer::time_point::max()) {}

void Session::start_reading() {
    asio::co_spawn(io_, read_until_end(), [self = shared_from_this()](std::exception_ptr failure) {
        if (!failure) return;
        try {
            std::rethrow_exception(failure);
        } catch (const std::exception& error) {
            self->owner_.on_reader_failed(failure_text(error));
        }
    });
}

asio::awaitable<void> Session::read_until_end() {
    const std::shared_ptr<Session> self = shared_from_this();
    while (reading()) {
        asio::error_code error;
        if (stream_->pending())                             // the descriptor does not show it
            co_await asio::post(io_, asio::use_awaitable);  // the others have their turn
        else
            co_await stream_->descriptor().async_wait(
                Wait::wait_read, asio::redirect_error(asio::use_awaitable, error));
        if (error || !reading()) co_return;  // closed here
        if (!held_) {
            read_once();
        } else {
            asio::error_code let_go;  // is said as an error
            co_await let_go_.async_wait(asio::redirect_error(asio::use_awaitable, let_go));
        }
    }
}

void Session::read_once() {
    std::array<std::byte, 1024> stray{};
    const bool stray_only = discarding_;
    const IoResult result =
        stream_->read(stray_only ? std::span<std::byte>(stray) : reader_.prepare());
    switch (result.status) {
        case IoStatus::done:
            if (stray_only) return;
            reader_.commit(result.bytes);
            deliver_frames();
            watch_frame();
            return;
        case IoStatus::would_block: return;
        case IoStatus::eof:
        case IoStatus::reset:
        case IoStatus::truncated:
        case IoStatus::timeout:
        case IoStatus::unusable: end(end_of(result.status), stream_->why_ended()); return;
    }
}

void Session::deliver_frames() {
    while (reading() && !held_ && !closing_ && !discarding_) {
        auto frame = reader_.next();
        if (!frame) {
            end(SessionEnd::protocol, frame.error());
            return;
        }
        if (!*frame) return;
        ++frames_;
        owner_.on_frame(*this, std::move(**frame));
    }
}

void Session::watch_frame() {
    if (watching_frame_ || !reading() || closing_ || discarding_ || !reader_.in_frame()) return;
    watching_frame_ = true;
    frame_deadline_.expires_after(frame_time_max_);
    frame_deadline_.async_wait(
        [self = shared_from_this(), frame = frames_](const asio::error_code& error) {
            self->watching_frame_ = false;
            if (error) return;
            // It is in a later one, or could not be read.
            if (self->frames_ != frame || self->held_) return self->watch_frame();
            if (self->reading() && !self->discarding_)
                self->end(SessionEnd::protocol, "a frame was begun and not completed in time");
        });
}

void Session::end(SessionEnd how, const std::string& why) {
    if (ended_) return;
    ended_ = true;
    if (closing_ || closed_) {
        // Nobody waits for this session any more; without a reader what is left need not be sent.
        if (how != SessionEnd::eof) abandon();
        return;
    }
    owner_.on_end(*this, how, why);
}

void Session::hold(bool held) {
    held_ = held;
    if (held) return;
    let_go_.cancel();
    deliver_frames();  // those that had been read
    flush();
}

bool Session::push(Outbox::Kind kind, std::span<const std::byte> frame) {
    if (closing_ || closed_) return true;
    return outbox_.push(kind, frame);
}

void Session::flush() {
    if (waiting_for_room_ || held_ || closed_) return;
    while (!drained()) {
        const IoResult result =
            outbox_.empty() ? stream_->send_rest() : stream_->write(outbox_.waiting());
        if (result.status == IoStatus::done) outbox_.consume(result.bytes);
        switch (result.status) {
            case IoStatus::done: break;
            case IoStatus::would_block: wait_for_room(); return;
            case IoStatus::eof:
            case IoStatus::reset:
            case IoStatus::truncated:
            case IoStatus::timeout:
            case IoStatus::unusable:
                outbox_.clear();
                if (closing_) return abandon();
                return end(end_of(result.status), stream_->why_ended());
        }
    }
    if (!closing_) return;
    stream_->say_end();
    abandon();
}

void Session::wait_for_room() {
    waiting_for_room_ = true;
    stream_->descriptor().async_wait(Wait::wait_write,
                                     [self = shared_from_this()](const asio::error_code& error) {
                                         self->waiting_for_room_ = false;
                                         if (!error) self->flush();
                                     });
}

void Session::close() {
    if (closed_ || closing_) return;
    closing_ = true;
    flush();
}

void Session::abandon() {
    if (closed_) return;
    closed_ = true;
    frame_deadline_.cancel();
    let_go_.cancel();
    outbox_.clear();
    stream_->close();
}

}  // namespace bullring
