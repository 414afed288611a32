// Moves in scenarios: a path of a search as a scenario, whose moves are named with what they
// deliver, and how such a line is read.
#pragma once

#include <vector>

#include "sim/explore/small_world.hpp"
#include "sim/scenario/line_reader.hpp"
#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

/// `end`: what the path leads to.
Scenario path_scenario(explore::SmallWorld start, const std::vector<explore::Move>& path,
                       const Violation& end);

/// Adds the move that the line goes on with, behind its `move`.
void read_move(LineReader& line, Scenario& scenario);

}  // namespace bullring::sim
