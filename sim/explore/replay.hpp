// Goes along a path and prints it for people: each move, when, and what the nodes do about it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/explore/path_file.hpp"
#include "sim/explore/small_world.hpp"

namespace bullring::sim::explore {

struct Replay {
    std::string text;  // a numbered list
    std::optional<Violation> violation;
    std::string problem;  // why a step cannot be made; "" if all could
};

Replay replay(const SmallWorld& world, const WorldState& start, const std::vector<PathStep>& steps);

/// The moves of a path with what they deliver.
std::vector<PathStep> named_steps(const SmallWorld& world, const WorldState& start,
                                  const std::vector<Move>& moves);

}  // namespace bullring::sim::explore
