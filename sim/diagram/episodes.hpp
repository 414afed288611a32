// Tells the story of a trace: when there was no leader, why, and who took over.
#pragma once

#include <cstdint>
#include <string>

#include "sim/diagram/model.hpp"

namespace bullring::sim::diagram {

/// Fills episodes, in order; needs everything else in the model.
void find_episodes(Model& model);

struct Window {
    std::int64_t from = 0;
    std::int64_t to = 0;
};

/// What is worth seeing: all of a short trace; of a long one the last changes of leader, as many as
/// fit into one picture. `all` is set when that is everything.
Window choose_window(const Model& model);

/// "node 5 dies: node 4 is elected 1.03 ms later". Empty when nothing happens in the window.
std::string headline(const Model& model, Window window);

}  // namespace bullring::sim::diagram
