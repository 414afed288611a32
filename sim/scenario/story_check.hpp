// What no line of a scenario can know by itself: whether there are such nodes, and whether time
// runs on.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

/// Each with its line and what would be right; empty if there is none.
std::vector<std::string> story_problems(const Scenario& scenario);

}  // namespace bullring::sim
