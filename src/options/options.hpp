// The command line, the environment and the configuration file, made into what a subcommand needs.
// Nothing here acts on it, and nothing here writes to a stream.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "src/options/node_options.hpp"
#include "src/options/observer_options.hpp"
#include "src/options/run_options.hpp"

namespace bullring {

using Environment = std::map<std::string, std::string, std::less<>>;

/// What `--help` or `--version` ask for; goes to stdout.
struct Information {
    std::string text;
};

/// All that is wrong, one sentence each, with the offending value and what would be right.
struct UsageProblems {
    std::vector<std::string> problems;
    // What was given nevertheless; whether these programs are there only the system can say.
    Command command;
    std::string health_cmd;
};

using ParsedOptions = std::variant<NodeOptions, RunOptions, LeadOptions, StatusOptions,
                                   WatchOptions, ResignOptions, Information, UsageProblems>;

/// `arguments` without the program's name. The command line wins over the environment, the
/// environment over the file. Reads the files that `--config` and `--peers @FILE` name, no others.
ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment);

}  // namespace bullring
