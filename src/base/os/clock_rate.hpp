// Owns: by how much the kernel corrects the rate of this machine's clocks. It is measured, since
// the call that tells it (adjtimex) is closed to a service that may not set a clock; and so what
// slews a clock for a while counts, too.
#pragma once

#include <cstdint>
#include <optional>

namespace bullring {

/// CLOCK_MONOTONIC, which is corrected as CLOCK_BOOTTIME is but stands still in suspend, and
/// CLOCK_MONOTONIC_RAW, which is not corrected, as nearly at one instant as this machine lets them
/// be read.
struct ClockPair {
    std::int64_t corrected_ns = 0;
    std::int64_t raw_ns = 0;
    std::int64_t apart_ns = 0;  // at most
};

ClockPair read_clock_pair();

/// By how many millionths the corrected one has run faster. nullopt: they were read too far apart
/// from each other to tell.
std::optional<double> correction_ppm(const ClockPair& from, const ClockPair& to);

}  // namespace bullring
