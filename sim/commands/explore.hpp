// `bullring-sim explore`: every interleaving of a small cluster within bounds, or the replay of a
// path that such a search has found.
#pragma once

#include <CLI/CLI.hpp>

namespace bullring::sim {

/// `exit_status` becomes 0 if nothing was found, 1 for a violation, 2 for wrong usage.
void add_explore_command(CLI::App& app, int& exit_status);

}  // namespace bullring::sim
