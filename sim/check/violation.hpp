// A broken promise of the protocol: which check found it, and the two facts that contradict each
// other.
#pragma once

#include <cstdint>
#include <string>

#include "sim/world/types.hpp"

namespace bullring::sim {

struct Violation {
    std::string check;  // "I1" … "I12", "L1" … "L5"; a scenario's own: "expect"
    std::string what;
    Time at = 0;
    std::uint64_t step = 0;
    bool operator==(const Violation&) const = default;
};

}  // namespace bullring::sim
