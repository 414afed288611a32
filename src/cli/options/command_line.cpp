// The only user of CLI11. CLI11 stops at the first error, so here nothing is an error to it: it
// only takes the arguments apart and prints the help.
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "protocol/values/names.hpp"
#include "protocol/values/timing.hpp"
#include "src/base/commit/commit.hpp"
#include "src/base/text/nearest.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/options/sources.hpp"

namespace bullring {

namespace {

/// Stands for the value of a flag that was given without one; no argument can hold a NUL.
constexpr std::string_view no_value{"\0", 1};
constexpr std::size_t help_column = 38;
constexpr std::size_t help_columns = 58;

std::string flag_name(const Flag& flag) { return std::string("--") + flag.name; }

/// In lines of so many columns at most, as far as the words let it; all of "…" and "−" is one.
std::string wrapped(std::string_view text) {
    std::string lines;
    std::size_t column = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto width = static_cast<std::size_t>(
            std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xC0) != 0x80; }));
        const bool fits = column + 1 + width <= help_columns;
        if (column > 0) lines += fits ? ' ' : '\n';
        column = column > 0 && fits ? column + 1 + width : width;
        lines += word;
    }
    return lines;
}

void add_flag(CLI::App& app, const Flag& flag) {
    std::string help = wrapped(flag.help);
    if (const std::string standard = flag.default_text(); !standard.empty())
        help += "\n" + wrapped("[" + standard + "]");
    if (flag.is_switch()) {
        app.add_flag(flag_name(flag))->description(help);
        return;
    }
    app.add_option(flag_name(flag))
        ->description(help)
        ->option_text(flag.argument)
        ->expected(0, 1)
        ->default_str(std::string(no_value))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

std::string profile_table() {
    constexpr std::size_t column = 12;
    std::string text =
        "Profiles with their heartbeat, suspect-after and lease; the first of lease, heartbeat "
        "and\n"
        "suspect-after that is given scales the others:\n";
    for (const protocol::Profile profile : protocol::enumerators<protocol::Profile>()) {
        protocol::TimingRequest request;
        request.profile = profile;
        const auto timing = make_timing(request, 3, protocol::Algorithm::bully);
        std::string line = "  ";
        for (const std::string& cell : {std::string(name(profile)), to_text(timing.heartbeat),
                                        to_text(timing.suspect_after), to_text(timing.lease)}) {
            line += cell + std::string(column - cell.size(), ' ');
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

/// Empty for a subcommand that does one thing only.
std::string action_lines(const Subcommand& subcommand) {
    constexpr std::size_t column = 24;
    std::string text;
    for (const Action& action : subcommand.actions) {
        std::string words = std::string("  ") + action.name + " " + action.operands;
        // "…" takes one column and three bytes.
        const std::size_t wide = words.ends_with("…") ? 2 : 0;
        words.resize(std::max(words.size(), column + wide), ' ');
        text += words + action.summary + "\n";
    }
    return text.empty() ? text : "Actions:\n" + text + "\n";
}

std::string footer(const Subcommand& subcommand) {
    const bool member = find_flag(subcommand.name, "profile") != nullptr;
    return (member ? profile_table() + "\n" : std::string()) + action_lines(subcommand) +
           "Durations (D) carry a unit: 250us, 50ms, 2s. Every flag can also be given in the\n"
           "environment (--log-level is BULLRING_LOG_LEVEL) and as a key of the --config file\n"
           "(log-level = \"debug\"); the command line wins over the environment, the\n"
           "environment over the file.";
}

void add_subcommands(CLI::App& root) {
    for (const Subcommand& row : subcommand_table()) {
        CLI::App& app = *root.add_subcommand(row.name, row.summary);
        app.allow_extras()->footer(footer(row));
        app.formatter(std::make_shared<CLI::Formatter>());
        // CLI11 puts this word in brackets, and knows nothing of what may follow `--`.
        if (row.takes_command) app.get_formatter()->label("OPTIONS", "OPTIONS] -- COMMAND [ARG…");
        if (row.operands != nullptr)
            app.get_formatter()->label("OPTIONS", std::string("OPTIONS] ") + row.operands);
        app.set_help_flag("-h,--help", "print this and exit");
        app.set_version_flag("--version", "bullring " + version_text(),
                             "print the version and exit");
        for (const Flag& flag : flag_table()) {
            if (flag.belongs_to(row.name)) add_flag(app, flag);
        }
        app.get_formatter()->column_width(help_column);
    }
}

void collect(const CLI::App& app, CommandLine& line, Problems& problems) {
    for (const Flag& flag : flag_table()) {
        if (!flag.belongs_to(line.subcommand->name)) continue;
        const CLI::Option& option = *app.get_option(flag_name(flag));
        if (option.empty()) continue;
        const std::string& text = option.results().back();
        const bool usable = text != no_value;
        if (!usable) {
            report(
                problems, flag_name(flag),
                std::string("it needs a value; expected ") + flag_name(flag) + " " + flag.argument);
        }
        line.values[flag.name] = {text, flag_name(flag), usable};
    }
}

void report_argument(const std::string& argument, const Subcommand& subcommand,
                     Problems& problems) {
    problems.push_back("unexpected argument " + in_quotes(argument) + "; " +
                       (subcommand.takes_command
                            ? "a command goes after --"
                            : std::string(subcommand.name) + " takes flags only"));
}

/// Whether any subcommand's flag of this name has a value.
bool takes_value(std::string_view flag_name) {
    return std::any_of(flag_table().begin(), flag_table().end(), [&](const Flag& flag) {
        return flag.name == flag_name && !flag.is_switch();
    });
}

/// "run and lead": which subcommands have it; empty when none does.
std::string owners_of(std::string_view flag_name) {
    std::vector<std::string_view> owners;
    for (const Subcommand& row : subcommand_table())
        if (find_flag(row.name, flag_name) != nullptr) owners.emplace_back(row.name);
    if (owners.size() < 2) return owners.empty() ? "" : std::string(owners.front());
    const std::string_view last = owners.back();
    owners.pop_back();
    return fmt::format("{} and {}", fmt::join(owners, ", "), last);
}

/// True when what follows is meant to be its value.
bool report_flag(const std::string& argument, const Subcommand& subcommand, Problems& problems) {
    const std::string flag = argument.substr(0, argument.find('='));
    const std::size_t dashes = std::min(flag.find_first_not_of('-'), flag.size());
    const std::string_view bare = std::string_view(flag).substr(dashes);
    const std::string name = subcommand.name;
    std::string_view meant = bare;
    if (const std::string owners = owners_of(bare); !owners.empty() && dashes == 2) {
        problems.push_back(name + " has no flag " + in_quotes(flag) + "; it is one of " + owners);
    } else {
        meant = nearest_flag(bare, subcommand.name);
        problems.push_back("unknown flag " + in_quotes(flag) + "; " +
                           (meant.empty() ? "see bullring " + name + " --help"
                                          : "did you mean --" + std::string(meant) + "?"));
    }
    return flag.size() == argument.size() && takes_value(meant);
}

/// A word that is neither a flag nor the value of one is an operand, or wrong.
void take_extras(const std::vector<std::string>& arguments, const Subcommand& subcommand,
                 CommandLine& line, Problems& problems) {
    bool value_follows = false;
    for (const std::string& argument : arguments) {
        if (argument.starts_with('-') && argument != "-")
            value_follows = report_flag(argument, subcommand, problems);
        else if (std::exchange(value_follows, false))
            continue;
        else if (subcommand.operands != nullptr)
            line.operands.push_back(argument);
        else
            report_argument(argument, subcommand, problems);
    }
}

std::vector<std::string_view> subcommand_names() {
    std::vector<std::string_view> names;
    for (const Subcommand& row : subcommand_table()) names.emplace_back(row.name);
    names.insert(names.end(), {"help", "completion"});
    return names;
}

void report_no_subcommand(const CLI::App& root, Problems& problems) {
    const std::vector<std::string> rest = root.remaining();
    const std::vector<std::string_view> names = subcommand_names();
    const std::string right = fmt::format(" expected one of {}", fmt::join(names, ", "));
    if (rest.empty()) {
        problems.push_back("no subcommand;" + right);
    } else if (rest.front().starts_with('-')) {
        constexpr std::array<std::string_view, 2> flags{"--help", "--version"};
        problems.push_back("unknown flag " + in_quotes(rest.front()) + " before the subcommand;" +
                           did_you_mean(rest.front(), flags) + right);
    } else {
        problems.push_back("unknown subcommand " + in_quotes(rest.front()) + ";" +
                           did_you_mean(rest.front(), names) + right);
    }
}

/// Last argument first, as CLI11 wants them; `--flag=` becomes `--flag ''`, which it would not see
/// as a value otherwise.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
    std::vector<std::string> result;
    for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) {
        const bool empty_value = it->starts_with("--") && it->find('=') == it->size() - 1;
        if (empty_value) {
            it->pop_back();
            result.emplace_back();
        }
        result.push_back(*it);
    }
    return result;
}

}  // namespace

CommandLine read_command_line(const std::vector<std::string>& arguments, Problems& problems) {
    CommandLine line;
    CLI::App root("Leader election by Bully and Ring, safe by a majority.", "bullring");
    root.allow_extras()->require_subcommand(0, 1);
    root.set_help_flag("-h,--help", "print this and exit");
    root.set_version_flag("--version", "bullring " + version_text(), "print the version and exit");
    root.footer(
        "`bullring SUBCOMMAND --help` prints its flags and their defaults, `bullring help`\n"
        "the pages of the manual.");
    add_subcommands(root);

    // CLI11 mistakes what follows `--` for its own.
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    try {
        root.parse(reversed({arguments.begin(), separator}));
    } catch (const CLI::CallForHelp&) {
        // main() answers these two before anything is read; here they are only listed.
        root.add_subcommand("help", "Show a page of the manual");
        root.add_subcommand("completion", "Print the completion for bash or zsh");
        line.information = root.help();
        return line;
    } catch (const CLI::CallForVersion&) {
        line.information = "bullring " + version_text() + "\n";
        return line;
    } catch (const CLI::ParseError& error) {
        problems.emplace_back(error.what());
    }

    if (root.get_subcommands().empty()) {
        report_no_subcommand(root, problems);
        return line;
    }
    const CLI::App& app = *root.get_subcommands().front();
    line.subcommand = find_subcommand(app.get_name());
    for (const std::string& argument : root.remaining()) {
        problems.push_back("unexpected " + in_quotes(argument) + " before the subcommand " +
                           app.get_name());
    }
    take_extras(app.remaining(), *line.subcommand, line, problems);
    if (line.subcommand->operands != nullptr) {
        if (separator != arguments.end())
            line.operands.insert(line.operands.end(), separator + 1, arguments.end());
    } else if (line.subcommand->takes_command) {
        if (separator != arguments.end()) line.command.assign(separator + 1, arguments.end());
    } else if (separator != arguments.end()) {
        problems.push_back("unexpected \"--\"; " + app.get_name() + " takes no command after it");
    }
    collect(app, line, problems);
    return line;
}

}  // namespace bullring
