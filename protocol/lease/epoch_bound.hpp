// How far what others say may raise the epochs of a node (PROTOCOL R9). Without a bound a single
// message could use up the numbers that all later elections need. Pure arithmetic; it never bounds
// an epoch that this node itself counts up to.
#pragma once

#include <algorithm>
#include <tuple>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

class EpochBound {
public:
    /// Up to here every epoch is believed at once. Epochs start at 1024 a millisecond since 1970 at
    /// most, which gets here in the year 2527, and an election adds one.
    static constexpr Epoch horizon{std::uint64_t{1} << 54U};
    /// Where epochs begin at this wall clock.
    static constexpr Epoch of_clock(std::uint64_t ms_since_1970) {
        constexpr std::uint64_t epochs_per_ms = 1024;
        return {std::min(ms_since_1970, horizon.value / epochs_per_ms) * epochs_per_ms};
    }
    /// Above the horizon: so many more in each window of time, however many messages come.
    static constexpr std::uint64_t step = std::uint64_t{1} << 20U;
    static constexpr Duration window = seconds(1);
    /// No cluster gets here by such steps in 30,000 years: not even followed.
    static constexpr Epoch nonsense{std::uint64_t{1} << 60U};

    /// The highest epoch that is believed now by a node that has seen `seen`.
    Epoch limit(Instant now, Epoch seen) const {
        return (due(now, since_ + window) ? std::max(seen, horizon) : base_) + step;
    }
    /// The epoch that `told` raises `seen` to: itself, or the limit where it is above that.
    Epoch raised(Instant now, Epoch seen, Epoch told) {
        // R9.1: no message raises it by more than is left of this window. R9.5: nonsense not at
        // all.
        if (told <= seen || told >= nonsense) return seen;
        const Epoch to = std::max(seen, std::min(told, limit(now, seen)));
        if (to > horizon && due(now, since_ + window)) {
            base_ = std::max(seen, horizon);
            since_ = now;
        }
        return to;
    }

    bool operator==(const EpochBound&) const = default;
    auto digest_fields() const { return std::tie(base_, since_); }

private:
    Epoch base_;  // where the window of time began
    Instant since_ = long_ago;
};

}  // namespace bullring::protocol
