// Owns: how often something may be done: a number of times in a row, and then once in each period
// (a token bucket). The clock is the caller's.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace bullring {

class RateLimit {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Period = std::chrono::steady_clock::duration;

    RateLimit(int at_once, Period every) : every_(every), at_once_(at_once) {}

    /// Takes one, or says how long it is until the next.
    std::optional<Period> take(Time now) {
        full_at_ = std::max(full_at_, now);
        const Time then = full_at_ + every_;
        if (then - now > every_ * at_once_) return then - now - every_ * at_once_;
        full_at_ = then;
        return std::nullopt;
    }
    /// Gives back what was taken last, because it was not used.
    void give_back() { full_at_ -= every_; }

private:
    Period every_;
    int at_once_;
    Time full_at_{};  // when nothing of what was taken will be missing any more
};

}  // namespace bullring
