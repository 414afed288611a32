// Owns: the instant at which a wait that a user has asked for is over.
#pragma once

#include <algorithm>
#include <chrono>

namespace bullring {

/// A negative time counts as none. A timeout beyond the clock's range is capped: `now + time` would
/// overflow into the past.
inline std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point now = Clock::now();
    return now + std::min(std::max(time, std::chrono::nanoseconds(0)),
                          std::chrono::nanoseconds(Clock::time_point::max() - now));
}

}  // namespace bullring
