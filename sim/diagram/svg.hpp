// Draws a model as SVG: one file without scripts and without anything from elsewhere.
#pragma once

#include <string>

#include "sim/diagram/diagram.hpp"
#include "sim/diagram/episodes.hpp"
#include "sim/diagram/model.hpp"

namespace bullring::sim::diagram {

std::string write_svg(const Model& model, Window window, const DiagramOptions& options);

}  // namespace bullring::sim::diagram
