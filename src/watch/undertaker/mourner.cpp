#include "src/watch/undertaker/mourner.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <asio/ip/tcp.hpp>

#include "protocol/values/time.hpp"
#include "src/base/os/tcp.hpp"

namespace bullring {

namespace {

constexpr std::int64_t ms = 1'000'000;
// While the node lives a lost connection costs nothing yet; a member that does not know the node's
// run ends each at once.
constexpr std::int64_t pause_min = 50 * ms;
constexpr std::int64_t pause_max = 5'000 * ms;
constexpr std::int64_t connect_max = 1'000 * ms;
/// A connection that the member has left open for so long is one that it wants.
constexpr std::int64_t wanted_after = 1'000 * ms;
// Afterwards it costs the others the rest of a lease.
constexpr std::int64_t last_pause_min = 5 * ms;
constexpr std::int64_t last_pause_max = 100 * ms;
constexpr std::int64_t last_connect_max = 250 * ms;

}  // namespace

void Mourner::begin(const UndertakerOrder& where, std::int64_t now) {
    peer_ = where.peer;
    address_ = where.address;
    address_bytes_ = where.address_bytes;
    pause_ns_ = pause_min;
    connect(now);
}

void Mourner::node_ended(std::int64_t now) {
    node_ended_ = true;
    if (peer_ == 0) return;
    pause_ns_ = last_pause_min;
    // One that stands says it at once; one that connects has less time now.
    look_at_ = state_ == State::connecting ? std::min(look_at_, now + last_connect_max) : now;
}

pollfd Mourner::waits_for() const {
    const short what = state_ == State::connecting ? POLLOUT : POLLIN;
    const bool open = state_ != State::pausing && state_ != State::done;
    return {open ? socket_.get() : -1, what, 0};
}

void Mourner::look(short ready, std::int64_t now, const UndertakerOrder& words) {
    switch (state_) {
        case State::done: return;
        case State::pausing:
            if (now >= look_at_) connect(now);
            return;
        case State::connecting:
            if (ready != 0) return on_connected(now, words);
            if (now >= look_at_) pause(now);
            return;
        case State::standing:
            if (node_ended_) return say_last(now, words);
            if (ready != 0) on_readable(now);
            return;
        case State::said:
            if (ready != 0) return on_readable(now);
            if (now >= look_at_) pause(now);
            return;
    }
}

void Mourner::connect(std::int64_t now) {
    asio::ip::tcp::endpoint address;
    std::memcpy(address.data(), &address_,
                std::min<std::size_t>(address_bytes_, address.capacity()));
    address.resize(address_bytes_);
    socket_ = tcp::start_connect(address);
    if (!socket_) return pause(now);
    state_ = State::connecting;
    look_at_ = now + (node_ended_ ? last_connect_max : connect_max);
}

void Mourner::on_connected(std::int64_t now, const UndertakerOrder& words) {
    if (tcp::connect_error(socket_.get()) != 0) return pause(now);
    tcp::set_options(socket_.get(), protocol::seconds(1));
    tcp::set_keep_alive(socket_.get());
    if (!send(words.first)) return pause(now);
    state_ = State::standing;
    stands_since_ = now;
    look_at_ = INT64_MAX;
    if (node_ended_) say_last(now, words);
}

/// Nothing is ever sent here, so it is the end, or somebody else's rubbish.
void Mourner::on_readable(std::int64_t now) {
    char byte = 0;
    const ssize_t count = ::recv(socket_.get(), &byte, 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    // In order, and after the last word: it was read.
    if (count == 0 && state_ == State::said) {
        state_ = State::done;
        socket_ = OwnedFd();
        look_at_ = INT64_MAX;
        return;
    }
    if (now - stands_since_ >= wanted_after && !node_ended_) pause_ns_ = pause_min;
    pause(now);
}

void Mourner::say_last(std::int64_t now, const UndertakerOrder& words) {
    // The other end has left already, and will not hear it.
    char byte = 0;
    if (::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) return pause(now);
    if (!send(words.last)) return pause(now);
    state_ = State::said;
    look_at_ = now + last_connect_max;  // nothing has come back: once more, on another one
}

void Mourner::pause(std::int64_t now) {
    socket_ = OwnedFd();
    state_ = State::pausing;
    look_at_ = now + pause_ns_;
    pause_ns_ = std::min(pause_ns_ * 2, node_ended_ ? last_pause_max : pause_max);
}

bool Mourner::send(const UndertakerOrder::Word& word) const {
    return ::send(socket_.get(), word.data.data(), word.bytes, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(word.bytes);
}

}  // namespace bullring
