// The counts as an SVG chart: messages over the number of nodes.
#pragma once

#include <string>
#include <vector>

#include "sim/complexity/failover_count.hpp"

namespace bullring::sim {

struct Curve {
    std::string name;
    std::string color;
    bool dashed = false;
    std::vector<std::pair<std::size_t, std::uint64_t>> points;  // nodes, messages
};

/// Logarithmic in the messages. Readable on light and dark backgrounds.
std::string chart_svg(const std::string& title, const std::vector<Curve>& curves);

}  // namespace bullring::sim
