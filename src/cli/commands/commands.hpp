// Shared by the bodies of the subcommands. Each is a function in a file of its name,
// which reads its options out of what is given, and the function that does its work and returns the
// exit status: 0 done or stopped cleanly by SIGINT/SIGTERM, 1 it failed while running, with one
// line on stderr that says why. An exception that is thrown is reported by main as such a failure.
#pragma once

#include <string>

#include "src/cli/commands/command_options.hpp"
#include "src/cli/options/subcommand.hpp"

namespace bullring {

/// The status of whatever ends because of its command line.
inline constexpr int wrong_usage = 2;

/// The command after `--`, where the subcommand needs it.
Command command_of(const Given& given);

/// Of the node on this machine that is meant, as `lead` and those with --local find it.
std::string data_dir_of_local_node(const Given& given);

ObserverOptions observer_options(const Given& given);
/// The same, or those of the node on this machine, where --local is given. Flags that mean nothing
/// then are reported.
AskingOptions asking_options(const Given& given);

/// Of `bullring member refound`.
Work refound_work(const Given& given);

/// Whether nothing is to be started, as --check asks for.
bool only_checks(const Given& given);
/// Says what is in the way of a start with these options. `device`: as RunOptions has it.
Work examination(const Given& given, NodeOptions node, Command command = {},
                 std::string device = {});
/// The same of `lead`.
Work examination(LeadOptions options);

}  // namespace bullring
