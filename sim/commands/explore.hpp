// `bullring-sim explore`: every interleaving of a small cluster within bounds, and the paths that
// such searches have found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace bullring::sim {

/// `exit_status` becomes 0 if nothing was found, 1 for a violation, 2 for wrong usage.
void add_explore_command(CLI::App& app, int& exit_status);

/// Whether this is the text of a path that `explore` has found, and not of a scenario.
bool is_explored_path(std::string_view text);

/// Throws CLI::ValidationError if such a path, read from `file`, cannot be understood.
void check_path(const std::string& file, const std::string& text);

/// Goes along a path that can be understood, and tells it if `verbose`. What is wrong with it: the
/// violation that it leads to, or a step that cannot be made.
std::optional<std::string> follow_path(const std::string& text, bool verbose);

}  // namespace bullring::sim
