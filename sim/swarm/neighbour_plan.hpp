// The second cluster that a seed may put beside the first one, with the same ids: the addresses
// that are mistaken for each other's, the disks that end up in the wrong machine, and what happens
// to its own nodes meanwhile.
#pragma once

#include <cstdint>

#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

struct NeighboursPlanned {
    bool they_lead = false;  // once everything is mended
    bool disks_stay = true;  // of the first cluster, where its list may be changed (plan_members)
};

/// Draws them, if this seed has any, and adds what happens until `end`; of a source of its own, so
/// that all other seeds' histories stay what they were. `all`: each seed has, where the settings
/// allow it.
NeighboursPlanned plan_neighbours(Scenario& scenario, std::uint64_t seed, Time end, bool all);

}  // namespace bullring::sim
