// The settings' lines of a scenario file: one a line, "NAME VALUE…".
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/line_reader.hpp"

namespace bullring::sim {

/// Reads one line whose first word is not `at`. Problems stay in the reader.
void read_setting(LineReader& line, Scenario& scenario);

/// One for each algorithm that the scenario holds for; each is of one algorithm.
std::vector<Scenario> each_algorithm(const Scenario& scenario);

/// Only what differs from the defaults.
std::string settings_text(const Scenario& scenario);

/// "5" or "3,7,9". Empty when it is neither.
std::vector<NodeId> parse_ids(std::string_view text);

}  // namespace bullring::sim
