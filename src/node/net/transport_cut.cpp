// How a node is cut off from the other members for a while, which `drill` asks for.
//
// It neither reads what they send nor sends anything itself, and what it would close stays open.
// No FIN and no RST may leave: the others would take it for the end of a leader, and release its
// lease early, which a cut cable never does. Observers are still served, so that they can see
// whether this node claims to lead longer than it may. Unlike behind a cut cable the kernel goes on
// acknowledging what comes in; the others see silence in both cases.
#include <chrono>
#include <utility>

#include "src/node/net/transport.hpp"

namespace bullring {

void Transport::cut_off(protocol::Duration time) {
    for (auto& [id, entry] : sessions_) {
        // One that has not said yet what it is may be an observer's.
        const bool stranger = entry.side == Side::accepted && entry.phase == Phase::greeting;
        if (!stranger && entry.phase != Phase::observer) entry.session->hold(true);
    }
    cut_end_.emplace(io_, std::chrono::nanoseconds(time.ns));
    cut_end_->async_wait([this](const asio::error_code& error) {
        if (!error) end_cut();
    });
}

void Transport::end_cut() {
    cut_end_.reset();
    // The deliveries below may end sessions, and make others.
    std::vector<std::shared_ptr<Session>> held;
    held.reserve(sessions_.size());
    for (const auto& [id, entry] : sessions_) held.push_back(entry.session);
    for (const auto& session : held) session->hold(false);
    for (auto& session : std::exchange(closed_in_cut_, {})) {
        session->hold(false);
        close_when_drained(std::move(session));
    }
}

}  // namespace bullring
