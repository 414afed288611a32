// The changes of members that a seed draws: who founds the cluster, and what an operator asks of
// its leaders meanwhile.
#pragma once

#include <cstdint>

#include "protocol/values/rng.hpp"
#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

/// Whether this seed has any; of a source of its own, so that all other seeds' histories stay what
/// they were. `all`: each seed has, where the settings allow it.
bool draws_members(const Settings& settings, std::uint64_t seed, bool all);

/// Draws the founders, and adds the changes to what strikes until `end`. True: all disks keep what
/// they have, so that a leader can be required once everything is mended. (Of a list that has been
/// changed the disks are all that is left of it: where those of a majority are lost, nobody leads.)
bool plan_members(Scenario& scenario, std::uint64_t seed, Time end);

/// Most plans lose no disk then. False: this one does.
bool keep_disks(Scenario& scenario, protocol::Rng& rng);

/// A node that has no file from then on, or none that can be read.
bool loses_disk(const Command& command);

}  // namespace bullring::sim
