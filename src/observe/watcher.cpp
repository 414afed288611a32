#include "src/observe/watcher.hpp"

#include <algorithm>
#include <chrono>
#include <variant>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "protocol/values/dialling.hpp"
#include "src/base/os/clock.hpp"
#include "src/observe/observer_client.hpp"

namespace bullring {

namespace {

// A member sends its state at once, and again at least every second.
constexpr protocol::Duration first_state_max = protocol::seconds(1);
constexpr protocol::Duration silence_max = protocol::seconds(3);
// Nobody can be reached for this long: then no leader is known any more.
constexpr protocol::Duration unreachable_max = protocol::seconds(3);

protocol::Duration steady_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

}  // namespace

Watcher::Watcher(ObserverLoop& loop, const PeerList& peers, std::string cluster,
                 Callbacks callbacks)
    : loop_(loop),
      members_(peers.begin(), peers.end()),
      cluster_(std::move(cluster)),
      callbacks_(std::move(callbacks)),
      rng_(random_bits()),
      pause_timer_(loop.io),
      pause_(protocol::dial_pause_min) {}

asio::awaitable<void> Watcher::run() {
    // Many watchers spread over the members.
    std::size_t place = rng_.below(members_.size());
    std::size_t in_vain = 0;
    last_heard_ = steady_now();
    while (!stopped_) {
        const protocol::Duration begin = steady_now();
        const bool heard = co_await follow(place);
        sequence_.on_switch();
        place = (place + 1) % members_.size();
        if (heard && steady_now() - begin > protocol::seconds(1)) {
            in_vain = 0;
            pause_ = protocol::dial_pause_min;
            continue;
        }
        if (++in_vain < members_.size()) continue;
        in_vain = 0;
        note_unreachable();
        co_await pause();
    }
}

void Watcher::stop() {
    stopped_ = true;
    pause_timer_.cancel();
    if (link_ != nullptr) link_->cancel();
}

/// Until this member is of no more use. True when it has sent its state at least once.
asio::awaitable<bool> Watcher::follow(std::size_t place) {
    const Member& member = members_[place];
    ObserverLink link(loop_);
    link_ = &link;
    ObserverMessage request = Observe{cluster_, ObserveWhat::watch, protocol::nobody};
    const auto opened = co_await link.open(member.first, member.second, std::move(request),
                                           deadline_in(first_state_max));
    if (!opened && opened.error().refused)
        callbacks_.refused(member.first, to_text(member.second), opened.error().why);
    bool heard = false;
    while (opened && !stopped_) {
        const auto received =
            co_await link.receive(deadline_in(heard ? silence_max : first_state_max));
        if (!received) {
            if (received.error().refused)
                callbacks_.refused(member.first, to_text(member.second), received.error().why);
            break;
        }
        if (const auto* refused = std::get_if<ObserverRefused>(&received->message)) {
            callbacks_.refused(member.first, to_text(member.second), difference(*refused));
            break;
        }
        const auto* state = std::get_if<ObserverChange>(&received->message);
        if (state == nullptr) break;
        heard = true;
        unreachable_said_ = false;
        last_heard_ = steady_now();
        tell(sequence_.on_state(*state, last_heard_));
        callbacks_.heard();
    }
    link_ = nullptr;
    co_return heard;
}

void Watcher::note_unreachable() {
    if (stopped_ || steady_now() - last_heard_ < unreachable_max) return;
    tell(sequence_.on_nobody_reachable(read_clock().boottime_ns));
    callbacks_.heard();
    if (stopped_ || unreachable_said_) return;
    unreachable_said_ = true;
    callbacks_.unreachable();
}

asio::awaitable<void> Watcher::pause() {
    if (stopped_) co_return;
    const protocol::Duration length =
        std::min(pause_ + rng_.up_to(pause_ / 2), protocol::dial_pause_max);
    pause_ = std::min(pause_ * 2, protocol::dial_pause_max);
    pause_timer_.expires_after(std::chrono::nanoseconds(length.ns));
    asio::error_code ignored;
    co_await pause_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void Watcher::tell(const std::optional<ObserverChange>& change) {
    if (change && !stopped_) callbacks_.change(*change);
}

}  // namespace bullring
