// Validity without a lock.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <bullring/leadership.hpp>

#include "src/api/deadline.hpp"
#include "src/api/leadership_state.hpp"

namespace bullring {

Leadership::Leadership(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
Leadership::Leadership(const Leadership&) noexcept = default;
Leadership::Leadership(Leadership&&) noexcept = default;
Leadership& Leadership::operator=(const Leadership&) noexcept = default;
Leadership& Leadership::operator=(Leadership&&) noexcept = default;
Leadership::~Leadership() = default;

std::uint64_t Leadership::epoch() const noexcept { return state_->epoch.value; }

bool Leadership::valid() const noexcept {
    const auto seen = state_->page->read();
    return seen && seen->epoch == state_->epoch &&
           protocol::lease_valid(read_clock(), seen->deadline);
}

std::chrono::nanoseconds Leadership::time_left() const noexcept {
    const auto seen = state_->page->read();
    if (!seen || seen->epoch != state_->epoch) return std::chrono::nanoseconds(0);
    const protocol::Duration left = protocol::lease_left(read_clock(), seen->deadline);
    return std::chrono::nanoseconds(std::max<std::int64_t>(left.ns, 0));
}

std::stop_token Leadership::stop_token() const noexcept { return state_->stop.get_token(); }

void Leadership::report_progress() const noexcept { state_->report_progress(); }

bool Leadership::wait_for(std::chrono::nanoseconds time) const {
    std::mutex mutex;
    std::condition_variable_any never_notified;
    std::unique_lock lock(mutex);
    const std::stop_token token = stop_token();
    never_notified.wait_until(lock, token, deadline_after(time), [] { return false; });
    return !token.stop_requested();
}

}  // namespace bullring
