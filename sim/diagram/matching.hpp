// Finds for each receipt the sending that it belongs to.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/diagram/record.hpp"

namespace bullring::sim::diagram {

inline constexpr std::size_t no_record = static_cast<std::size_t>(-1);

struct Matching {
    /// By record: its other end, or `no_record`.
    std::vector<std::size_t> partner;
    /// By record: a sending whose place in the queue a newer one took; it was never on the wire.
    std::vector<bool> superseded;
};

/// A session is FIFO without gaps, so (dialler, its incarnation, session, direction, index) names a
/// message. The one exception is a sender that replaces an HB or COORDINATOR that still waits: from
/// then on its indices run ahead, which shows in the contents. Looks at no time.
Matching match(const std::vector<TraceRecord>& records);

}  // namespace bullring::sim::diagram
