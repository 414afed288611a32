// The result of a sweep as JSON, so that the shards of several machines can be added.
#pragma once

#include <string>

#include "sim/swarm/sweep.hpp"

namespace bullring::sim {

std::string to_json(const SweepResult& result);

/// Throws std::runtime_error with what is wrong.
SweepResult sweep_from_json(const std::string& text);

/// The summary for people.
std::string summary(const SweepResult& result);

}  // namespace bullring::sim
