// Owns: every reading of a clock and of the system's entropy. Must never cache what it has read: a
// lease is judged against the instant of the call.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/values/time.hpp"

namespace bullring {

/// CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW, read one after the other (PROTOCOL R8). ~40 ns.
protocol::Instant read_clock();

struct WallClock {
    std::uint64_t ms = 0;       // since 1970, never before the build date
    bool before_build = false;  // the system's clock was, and has been corrected
};

/// Only for the epochs of a new cluster (R6) and for people; nothing is timed by it.
WallClock read_wall_clock();

/// CLOCK_MONOTONIC, by which no lease is judged.
std::int64_t monotonic_ns();

/// CLOCK_REALTIME, uncorrected.
std::int64_t wall_clock_ns();
/// As RFC 3339 in UTC with microseconds.
std::string rfc3339(std::int64_t wall_clock_ns);

/// 64 random bits from the kernel: an incarnation, a seed.
std::uint64_t random_bits();

}  // namespace bullring
