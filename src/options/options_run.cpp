// What `bullring run` and `bullring lead` need beyond a member's own options.
#include <cstdint>
#include <utility>

#include "src/options/options_commands.hpp"
#include "src/options/options_member.hpp"

namespace bullring {

namespace {

/// What the command has started may outlive the process, so its end releases nothing.
void untie(OptionReader& reader, NodeOptions& options) {
    options.config.tie = false;
    if (reader.boolean("fast-release") == true) {
        options.start_notes.emplace_back(
            "fast-release is off for this node's own leadership, because it runs a command");
    }
}

void check_quorum(OptionReader& reader, const NodeOptions& options) {
    if (options.config.quorum != protocol::QuorumMode::none) return;
    reader.report("quorum",
                  "run can't be used with none, where two nodes may lead at once; right is "
                  "--quorum majority");
}

void read_restarts(OptionReader& reader, RunOptions& options) {
    options.on_exit = reader
                          .word<OnExit>("on-exit", {{"stay", OnExit::stay},
                                                    {"vote", OnExit::vote},
                                                    {"leave", OnExit::leave}})
                          .value_or(options.on_exit);
    options.restart_delay = reader.duration("restart-delay").value_or(options.restart_delay);
    if (options.restart_delay > restart_delay_max)
        reader.refuse("restart-delay", "is too long; right is at most 1m");
    constexpr std::int64_t restarts_max = 1'000'000;
    options.max_restarts =
        reader.integer("max-restarts", 0, restarts_max, "a whole number, 0 … 1000000");
    options.stall_after = reader.positive_duration("stall-after").value_or(options.stall_after);
}

Command checked(Command command, const char* subcommand, Problems& problems) {
    if (command.empty() || command.front().empty())
        problems.push_back(std::string("no command; right is bullring ") + subcommand +
                           " … -- COMMAND [ARG…]");
    return command;
}

}  // namespace

RunOptions run_options(const RawValues& values, const Environment& environment, Command command,
                       Problems& problems) {
    RunOptions options;
    OptionReader reader(values, problems);
    options.kill_after = reader.positive_duration("kill-after").value_or(options.kill_after);
    options.node = member_options(reader, environment, options.kill_after, problems);
    untie(reader, options.node);
    check_quorum(reader, options.node);
    read_restarts(reader, options);
    options.command = checked(std::move(command), "run", problems);
    return options;
}

LeadOptions lead_options(const RawValues& values, const Environment& environment, Command command,
                         Problems& problems) {
    LeadOptions options;
    OptionReader reader(values, problems);
    NodeOptions node;
    node.config.cluster = reader.cluster();
    node.config.self = reader.node_id("id").value_or(protocol::nobody);
    const auto directory = environment.find("STATE_DIRECTORY");
    const bool named =
        reader.given("data-dir") || (directory != environment.end() && !directory->second.empty());
    if (!named && !reader.given("id")) {
        problems.emplace_back(
            "which node? right is --data-dir DIR, or --id N (and --cluster NAME)");
    } else {
        read_data_dir(reader, environment, node);
    }
    options.data_dir = node.data_dir;
    if (reader.given("id")) options.id = node.config.self.value;
    if (reader.given("cluster")) options.cluster = node.config.cluster;
    options.wait = reader.duration("wait").value_or(options.wait);
    options.kill_after = reader.positive_duration("kill-after").value_or(options.kill_after);
    options.log = reader.log();
    options.command = checked(std::move(command), "lead", problems);
    return options;
}

}  // namespace bullring
