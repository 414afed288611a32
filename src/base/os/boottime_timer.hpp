// Owns: a descriptor that becomes readable at an instant of CLOCK_BOOTTIME: at once after a
// suspend, and to the nanosecond.
#pragma once

#include <cstdint>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// Empty when the system refuses it; errno says why.
OwnedFd make_boottime_timer();

/// Replaces what it was armed for; an instant that has passed makes it readable at once.
/// False when it is no such timer.
bool arm_boottime_timer(int timer, std::int64_t boottime_ns);

void disarm_boottime_timer(int timer);

}  // namespace bullring
