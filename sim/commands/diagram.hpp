// `bullring-sim diagram`: its options and its body.
#pragma once

#include <CLI/CLI.hpp>

namespace bullring::sim {

/// Adds the subcommand. When it has been given, parsing runs it and sets `exit_status`: 0 done, 1
/// failed, with a line on stderr that says why. Wrong usage is CLI11's ParseError.
void add_diagram_command(CLI::App& app, int& exit_status);

}  // namespace bullring::sim
