// The language of scenario files: see sim/README.md.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

/// All problems at once, each "LINE: what is wrong and what would be right".
using ScenarioProblems = std::vector<std::string>;

std::variant<Scenario, ScenarioProblems> parse_scenario(std::string_view text);

/// A text that parses to the same scenario.
std::string to_text(const Scenario& scenario);
std::string to_text(const Command& command);

}  // namespace bullring::sim
