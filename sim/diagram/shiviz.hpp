// The export for ShiViz, which draws and searches space-time
// diagrams of its own.
#pragma once

#include <string>

#include "sim/diagram/episodes.hpp"
#include "sim/diagram/model.hpp"

namespace bullring::sim::diagram {

/// The first line is the regular expression that reads the rest, the second the empty delimiter of
/// executions. Then two lines for each event: its node and vector clock, and what happened.
std::string write_shiviz(const Model& model, Window window, bool heartbeats);

}  // namespace bullring::sim::diagram
