// Cuts a failing scenario down to what it needs to fail in the same way: fewer commands, fewer
// nodes, plainer settings (delta debugging, Zeller and Hildebrandt 2002).
#pragma once

#include <cstddef>
#include <string>

#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

struct Shrunk {
    Scenario scenario;
    std::size_t runs = 0;
};

/// `check` is the name of the violation to be kept. At most `runs_max` runs.
Shrunk shrink(const Scenario& failing, const std::string& check, std::size_t runs_max = 2000);

}  // namespace bullring::sim
