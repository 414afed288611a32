// Where values come from: each source gives the raw text of the flags that it sets, and reports
// what it can't make sense of. The meaning of the values is not known here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/options/flags.hpp"

namespace bullring {

struct RawValue {
    std::string text;
    std::string origin;  // "--lease", "BULLRING_LEASE", "lease in FILE"
    bool usable = true;  // false: given, but already reported as having no text that could be read
};

/// By the flag's name.
using RawValues = std::map<std::string, RawValue, std::less<>>;
using Problems = std::vector<std::string>;

struct CommandLine {
    std::optional<Subcommand> subcommand;
    RawValues values;
    std::vector<std::string> command;        // what follows `--`
    std::vector<std::string> operands;       // neither flags nor a command
    std::optional<std::string> information;  // asked for by --help or --version
};

CommandLine read_command_line(const std::vector<std::string>& arguments, Problems& problems);
/// `config` is the value of --config. Keys of other subcommands are skipped, so that one file can
/// serve all of them.
RawValues read_config_file(Subcommand subcommand, const RawValue& config, Problems& problems);

/// Makes `no-preempt` the opposite of `preempt`; both in one source exclude each other.
void fold_negations(RawValues& values, Problems& problems);

/// How the texts of all that can't be used begin: `subject: what`.
void report(Problems& problems, const std::string& subject, const std::string& what);

}  // namespace bullring
