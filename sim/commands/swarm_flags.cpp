#include "sim/commands/swarm_flags.hpp"

#include <charconv>

#include <fmt/format.h>

#include "sim/commands/commands.hpp"
#include "sim/scenario/duration_text.hpp"
#include "sim/scenario/settings_text.hpp"

namespace bullring::sim {

void add_swarm_flags(CLI::App& command, SwarmFlags& flags) {
    command.add_option("--nodes", flags.nodes, "how many nodes, or their ids: 5 or 3,7,9");
    command.add_option("--algorithm", flags.algorithm, "bully or ring")
        ->check(is_name_of<protocol::Algorithm>());
    command.add_option("--profile", flags.profile, "realtime, fast, lan, cloud or wan")
        ->check(is_name_of<protocol::Profile>());
    command.add_option("--quorum", flags.quorum, "majority, or none: the textbook's cluster")
        ->check(is_name_of<protocol::QuorumMode>());
    command.add_option("--duration", flags.duration, "how long faults strike, such as 10s or 10m");
    command.add_option("--faults", flags.faults,
                       "which kinds, such as crash,partition; all; none (drawn from the seed)");
    command.add_flag("--members", flags.members, "members come and go in every history");
    command.add_flag("--clients", flags.clients, "processes attach to the nodes in every history");
    command.add_flag("--neighbours", flags.neighbours,
                     "a second cluster of the same ids is beside every one");
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.starts_with('-'))
        return std::nullopt;
    return static_cast<std::uint64_t>(value);
}

SwarmOptions swarm_options(const SwarmFlags& flags) {
    SwarmOptions options;
    const auto refuse = [](const char* flag, const std::string& value, const std::string& right) {
        throw CLI::ValidationError(flag, fmt::format("'{}': {}", value, right));
    };
    if (!flags.nodes.empty()) {
        options.ids = parse_ids(flags.nodes);
        Settings settings;
        settings.ids = *options.ids;
        if (options.ids->empty() || !problems(settings).empty())
            refuse("--nodes", flags.nodes, "a number from 1 to 64, or different ids such as 3,7,9");
    }
    options.algorithm = protocol::named<protocol::Algorithm>(flags.algorithm);
    options.profile = protocol::named<protocol::Profile>(flags.profile);
    options.quorum = protocol::named<protocol::QuorumMode>(flags.quorum);
    if (!flags.duration.empty()) {
        options.duration = parse_duration(flags.duration);
        if (!options.duration || *options.duration < sec || *options.duration > 24 * 3600 * sec)
            refuse("--duration", flags.duration, "a duration from 1s to 24h, such as 10m");
    }
    if (!flags.faults.empty()) {
        options.faults = parse_fault_kinds(flags.faults);
        if (!options.faults)
            refuse("--faults", flags.faults,
                   "a list of " + protocol::all_names<FaultKind>() + ", or all, or none");
    }
    options.members = flags.members;
    options.clients = flags.clients;
    options.neighbours = flags.neighbours;
    return options;
}

std::string swarm_flags_text(const SwarmFlags& flags) {
    std::string text;
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) text += fmt::format(" {} {}", name, value);
    };
    add("--nodes", flags.nodes);
    add("--algorithm", flags.algorithm);
    add("--profile", flags.profile);
    add("--quorum", flags.quorum);
    add("--duration", flags.duration);
    add("--faults", flags.faults);
    if (flags.members) text += " --members";
    if (flags.clients) text += " --clients";
    if (flags.neighbours) text += " --neighbours";
    return text;
}

}  // namespace bullring::sim
