// Checks a scenario as a whole, which no single line allows: its nodes exist, and its time does not
// run backwards.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

/// Each with its line and what would be right; empty if there is none.
std::vector<std::string> story_problems(const Scenario& scenario);

}  // namespace bullring::sim
