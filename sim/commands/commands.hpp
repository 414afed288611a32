// The subcommands of bullring-sim. Each adds itself to the command line; when it is chosen, it runs
// and leaves its exit status: 0 good, 1 something was found or failed. Wrong usage is a ParseError.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "protocol/values/names.hpp"

namespace bullring::sim {

/// The check of a flag whose value is an enumerator's name.
template <class Enum>
CLI::IsMember is_name_of() {
    std::vector<std::string> names;
    for (const Enum value : protocol::enumerators<Enum>()) names.emplace_back(name(value));
    return CLI::IsMember(names);
}

void add_run_command(CLI::App& app, int& exit_status);
void add_sweep_command(CLI::App& app, int& exit_status);
void add_report_command(CLI::App& app, int& exit_status);
void add_scenario_command(CLI::App& app, int& exit_status);
void add_explore_command(CLI::App& app, int& exit_status);
void add_messages_command(CLI::App& app, int& exit_status);
void add_diagram_command(CLI::App& app, int& exit_status);

}  // namespace bullring::sim
