#include "src/cli/options/options.hpp"

#include <utility>

#include "src/base/text/text.hpp"
#include "src/cli/options/environment.hpp"
#include "src/cli/options/sources.hpp"

namespace bullring {

namespace {

/// The operands of `address` are what --address would have.
void take_addresses(CommandLine& line, Problems& problems) {
    if (find_flag(line.subcommand->name, "address") == nullptr || line.operands.empty()) return;
    std::string text;
    for (const std::string& operand : line.operands) text += (text.empty() ? "" : ",") + operand;
    const auto [value, is_new] = line.values.try_emplace("address", RawValue{text, "address"});
    if (!is_new)
        problems.push_back("unexpected argument " + in_quotes(line.operands.front()) + "; " +
                           value->second.origin + " is given, too");
}

}  // namespace

ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment) {
    Problems problems;
    CommandLine line = read_command_line(arguments, problems);
    if (line.information) return Information{std::move(*line.information)};
    if (line.subcommand == nullptr) return UsageProblems{std::move(problems), {}, {}, false};
    const std::string_view subcommand = line.subcommand->name;

    // A value of a higher source hides those of lower ones.
    RawValues values;
    const auto add = [&](RawValues source) {
        fold_negations(source, problems);
        values.merge(source);
    };
    take_addresses(line, problems);
    add(std::move(line.values));
    add(read_environment(subcommand, environment));
    if (const auto config = values.find("config"); config != values.end())
        add(read_config_file(subcommand, config->second, problems));

    Report report(values, problems);
    const Request request = read_request(subcommand, values, report);
    Work work = line.subcommand->body(
        {*line.subcommand, request, line.operands, line.command, environment, report});
    if (problems.empty()) return work;
    // All that start a node have --check, and it does not wait.
    const bool starts = find_flag(subcommand, "check") != nullptr && !request.check.value;
    const bool pass = starts && report.all_pass();
    return UsageProblems{std::move(problems), std::move(line.command), request.health_cmd.value,
                         pass};
}

}  // namespace bullring
