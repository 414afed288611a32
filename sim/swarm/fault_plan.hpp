// When which fault strikes: drawn once, before the run, so that a failing plan can be cut down.
#pragma once

#include <optional>
#include <vector>

#include "protocol/values/rng.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/swarm/fault_kinds.hpp"

namespace bullring::sim {

/// Everybody starts, then faults of the given kinds (nullopt: drawn) until `end`, in order of time.
/// May mark the settings (`beyond_…`), when that is drawn.
std::vector<Command> plan_faults(Settings& settings,
                                 const std::optional<std::vector<FaultKind>>& kinds, Time end,
                                 protocol::Rng& rng);
/// Everybody starts, then a member's address is changed at some of the others only, while its old
/// process lives.
std::vector<Command> plan_half_rolled_address(Settings& settings, Time end, protocol::Rng& rng);

}  // namespace bullring::sim
