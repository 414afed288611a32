// The subcommands of bullring-sim. Each adds itself to the command line; when it is chosen, it runs
// and leaves its exit status: 0 good, 1 something was found, 2 wrong usage.
#pragma once

#include <CLI/CLI.hpp>

namespace bullring::sim {

void add_run_command(CLI::App& app, int& exit_status);
void add_sweep_command(CLI::App& app, int& exit_status);
void add_report_command(CLI::App& app, int& exit_status);
void add_scenario_command(CLI::App& app, int& exit_status);
void add_messages_command(CLI::App& app, int& exit_status);

}  // namespace bullring::sim
