#include "sim/world/host_clock.hpp"

namespace bullring::sim {

void HostClock::rebase(Time now) {
    base_ = unbroken(now);
    base_at_ = now;
}

void HostClock::set_rates(Time now, Rates rates) {
    rebase(now);
    rates_ = rates;
}

void HostClock::set_suspended(Time now, bool suspended) {
    rebase(now);
    suspended_ = suspended;
}

void HostClock::reboot(Time now) {
    rebase(now);
    // Both begin near zero, but one offset keeps what the observer compares simple; a node never
    // compares its two clocks with each other.
    since_boot_ = Duration{base_.boottime_ns - sec};
}

}  // namespace bullring::sim
