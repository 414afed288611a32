// From a seed to a scenario: how many nodes, which algorithm and profile, which faults are on and
// how hard, and when each of them strikes. Then everything is mended, or a random graph of links is
// frozen, and a leader is required within a stated bound, and then quiet (L1, L2, L4).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/swarm/fault_kinds.hpp"

namespace bullring::sim {

/// The settings that the command line fixes; the seed draws the others.
struct SwarmOptions {
    std::optional<std::vector<NodeId>> ids;
    std::optional<protocol::Algorithm> algorithm;
    std::optional<protocol::Profile> profile;
    std::optional<protocol::QuorumMode> quorum;
    std::optional<Time> duration;  // of the time with faults
    std::optional<std::vector<FaultKind>> faults;
    bool members = false;     // they change in each history, where its settings allow it
    bool clients = false;     // processes attach to the nodes of each, likewise
    bool neighbours = false;  // a second cluster is beside each, where its settings allow it
};

Scenario draw_scenario(std::uint64_t seed, const SwarmOptions& options = {});

/// L1 with what the faults before may have left behind: silence after restarts, dialling, standing
/// back, some rounds of retry.
Time leader_bound(const Settings& settings);
/// L4: kill -9 of a settled leader to the next one, in a network without loss.
Time failover_bound(const Settings& settings);

}  // namespace bullring::sim
