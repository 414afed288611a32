// The colours and strokes of a picture, for light and dark paper.
#pragma once

#include <set>
#include <string>

#include "sim/diagram/diagram.hpp"
#include "sim/diagram/looks.hpp"

namespace bullring::sim::diagram {

/// The inside of <style>. With Theme::automatic the light rules, and the dark ones for browsers
/// that prefer them.
std::string style_sheet(Theme theme, const std::set<Look>& used);

}  // namespace bullring::sim::diagram
