// The attached processes that a seed draws: which nodes have no task of their own, where processes
// attach, and what becomes of them.
#pragma once

#include <cstdint>

#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

/// Draws them, if this seed has any, and adds what happens until `end`; of a source of its own, so
/// that all other seeds' histories stay what they were. `all`: each seed has, where the settings
/// allow it. True: it has some.
bool plan_clients(Scenario& scenario, std::uint64_t seed, Time end, bool all);

/// With one more process on any of its nodes, one of them leads once all is mended and settled.
bool clients_lead(const Settings& settings);

}  // namespace bullring::sim
