// The two clocks of one machine: their rates, their offsets, suspend and reboot. Integers only, so
// that every compiler makes the same history.
#pragma once

#include "sim/world/types.hpp"

namespace bullring::sim {

/// Parts per million that a clock runs faster than real time.
struct Rates {
    std::int64_t boottime_ppm = 0;
    std::int64_t raw_ppm = 0;
    bool operator==(const Rates&) const = default;
};

class HostClock {
public:
    HostClock() = default;
    HostClock(Instant offset, Rates rates) : base_(offset), rates_(rates) {}

    /// The clocks that a process on this machine reads.
    Instant read(Time now) const { return unbroken(now) - since_boot_; }
    /// The same clocks, as if the machine had never rebooted: what an observer outside compares.
    Instant unbroken(Time now) const {
        const Time passed = now - base_at_;
        return {base_.boottime_ns + scaled(passed, rates_.boottime_ppm),
                base_.raw_ns + (suspended_ ? 0 : scaled(passed, rates_.raw_ppm))};
    }
    Instant unbroken(Instant read) const { return read + since_boot_; }

    Rates rates() const { return rates_; }
    void set_rates(Time now, Rates rates) {
        rebase(now);
        rates_ = rates;
    }
    /// While suspended the raw clock stands still.
    void set_suspended(Time now, bool suspended) {
        rebase(now);
        suspended_ = suspended;
    }
    /// Both clocks begin again near zero; one offset for both keeps what an observer compares
    /// simple, as a node never compares its two clocks with each other.
    void reboot(Time now) {
        rebase(now);
        since_boot_ = Duration{base_.boottime_ns - sec};
    }
    /// How long, in real time, until `wait` has passed by the boot clock; never too short.
    Time real(Duration wait) const {
        const std::int64_t rate = million + rates_.boottime_ppm;
        return wait.ns / rate * million + (wait.ns % rate) * million / rate + 1;
    }

private:
    static constexpr std::int64_t million = 1'000'000;
    static constexpr std::int64_t scaled(Time passed, std::int64_t ppm) {
        return passed + passed / million * ppm + passed % million * ppm / million;
    }
    void rebase(Time now) {
        base_ = unbroken(now);
        base_at_ = now;
    }

    Time base_at_ = 0;
    Instant base_;
    Duration since_boot_{0};
    Rates rates_;
    bool suspended_ = false;
};

}  // namespace bullring::sim
