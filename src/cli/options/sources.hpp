// The command line and the configuration file as sources of values: each gives the raw text of the
// flags that it sets, and reports what it can't make sense of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/options/subcommand.hpp"
#include "src/settings/flags.hpp"
#include "src/settings/raw_values.hpp"

namespace bullring {

struct CommandLine {
    const Subcommand* subcommand = nullptr;
    RawValues values;
    std::vector<std::string> command;        // what follows `--`
    std::vector<std::string> operands;       // neither flags nor a command
    std::optional<std::string> information;  // asked for by --help or --version
};

CommandLine read_command_line(const std::vector<std::string>& arguments, Problems& problems);
/// `config` is the value of --config. Keys of other subcommands are skipped, so that one file can
/// serve all of them.
RawValues read_config_file(std::string_view subcommand, const RawValue& config, Problems& problems);

}  // namespace bullring
