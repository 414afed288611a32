// Results as text.
#pragma once

#include <string>

#include "sim/scenario/runner.hpp"

namespace bullring::sim {

/// "5 nodes, ring, lan, …" in one line.
std::string settings_line(const Scenario& scenario);

/// The violation, if any, and what the run was.
std::string outcome_text(const Outcome& outcome);

std::string violation_text(const Violation& violation);

}  // namespace bullring::sim
