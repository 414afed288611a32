// `bullring-sim explore`: every interleaving of a small cluster within bounds, and the paths that
// such searches have found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "sim/explore/path_file.hpp"

namespace bullring::sim {

/// `exit_status` becomes 0 if nothing was found, 1 for a violation, 2 for wrong usage.
void add_explore_command(CLI::App& app, int& exit_status);

/// Whether this is the text of a path that `explore` has found, and not of a scenario.
bool is_explored_path(std::string_view text);

/// The path in the text of `file`. Throws CLI::ValidationError if it cannot be understood.
explore::Path understood_path(const std::string& file, std::string_view text);

/// Goes along the path, and tells it if `verbose`. Returns what is wrong with it: the violation
/// that it leads to, or a step that cannot be made.
std::optional<std::string> follow_path(const explore::Path& path, bool verbose);

}  // namespace bullring::sim
