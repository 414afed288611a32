// Turns the command line, the environment and the configuration file into the work of a subcommand
// with its options. Nothing here acts on it, and nothing here writes to a stream.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "src/cli/options/subcommand.hpp"
#include "src/settings/raw_values.hpp"
#include "src/settings/run_options.hpp"

namespace bullring {

/// The answer to `--help` or `--version`; goes to stdout.
struct Information {
    std::string text;
};

/// All that is wrong, one sentence each, with the offending value and what would be right.
struct UsageProblems {
    std::vector<std::string> problems;
    // Given nevertheless; only the system can say whether these programs exist.
    Command command;
    std::string health_cmd;
    /// A node is to be started, and time or another program may mend all that is in its way.
    bool pass = false;
};

using ParsedOptions = std::variant<UsageProblems, Information, Work>;

/// `arguments` without the program's name. The command line wins over the environment, the
/// environment over the file. Reads the files that `--config` and `--peers @FILE` name, no others.
ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment);

}  // namespace bullring
