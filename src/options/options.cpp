#include "src/options/options.hpp"

#include <optional>
#include <utility>

#include "src/options/options_commands.hpp"
#include "src/options/options_sources.hpp"

namespace bullring {

namespace {

/// Fills in what `higher` does not give.
void merge(RawValues& higher, RawValues lower) { higher.merge(lower); }

ParsedOptions options_of(CommandLine& line, const RawValues& values, const Environment& environment,
                         Problems& problems) {
    switch (*line.subcommand) {
        case Subcommand::node: return node_options(values, environment, problems);
        case Subcommand::run:
            return run_options(values, environment, std::move(line.command), problems);
        case Subcommand::lead:
            return lead_options(values, environment, std::move(line.command), problems);
        case Subcommand::status: return status_options(values, problems);
        case Subcommand::watch: return watch_options(values, problems);
        case Subcommand::resign: return resign_options(values, problems);
    }
    return UsageProblems{};
}

}  // namespace

ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment) {
    Problems problems;
    CommandLine line = read_command_line(arguments, problems);
    if (line.information) return Information{std::move(*line.information)};
    if (!line.subcommand) return UsageProblems{std::move(problems), {}, {}};

    RawValues values = std::move(line.values);
    merge(values, read_environment(*line.subcommand, environment, problems));
    if (const auto config = values.find("config"); config != values.end()) {
        merge(values, read_config_file(*line.subcommand, config->second, problems));
    }
    const Command command = line.command;
    ParsedOptions options = options_of(line, values, environment, problems);
    if (problems.empty()) return options;
    const auto health_cmd = values.find("health-cmd");
    return UsageProblems{std::move(problems), command,
                         health_cmd == values.end() ? std::string() : health_cmd->second.text};
}

}  // namespace bullring
