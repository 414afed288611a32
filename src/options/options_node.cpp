// What a member of a cluster needs, alone or with a command: the values of its flags, and what must
// hold between them.
#include <algorithm>
#include <cstdint>

#include "protocol/messages.hpp"
#include "src/options/options_commands.hpp"
#include "src/options/options_member.hpp"
#include "src/options/options_reader.hpp"
#include "src/options/peer_list.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

using protocol::Algorithm;
using protocol::QuorumMode;

constexpr std::int64_t priority_max = 1000;
constexpr std::string_view hook_flags[] = {"on-elected", "on-deposed", "on-change"};

void read_members(OptionReader& reader, NodeOptions& options) {
    reader.require("id", "this node's ID, 1 … 9223372036854775807");
    reader.require("peers", "ID=HOST:PORT,… or @FILE");
    options.peers = reader.peers();
    options.config.self = reader.node_id("id").value_or(protocol::nobody);

    std::vector<protocol::NodeId> ids;
    for (const auto& [id, endpoint] : options.peers) ids.push_back(id);
    // Too many members have been reported; the set can't hold them.
    ids.resize(std::min(ids.size(), protocol::members_max));
    options.config.members = protocol::Membership(std::move(ids));

    const auto own_entry = options.peers.find(options.config.self);
    if (own_entry != options.peers.end()) {
        options.listen = own_entry->second;
    } else if (options.config.self && !options.peers.empty()) {
        reader.refuse("id", "is not in the peer list, which has " + ids_text(options.peers));
    }
    options.listen = reader.endpoint("listen").value_or(options.listen);
}

void read_priority(OptionReader& reader, NodeOptions& options) {
    if (reader.text("priority") == "never") {
        options.config.priority = protocol::Priority::never();
        return;
    }
    const auto value = reader.integer("priority", -priority_max, priority_max,
                                      "a whole number, -1000 … 1000, or never");
    options.config.priority = {static_cast<std::int32_t>(value.value_or(0))};
}

void read_rank(OptionReader& reader, NodeOptions& options, bool supervised) {
    read_priority(reader, options);
    // A better node that comes back is worth no restart of a command.
    options.config.preempt = reader.boolean("preempt").value_or(
        options.config.algorithm == Algorithm::bully && !supervised);
    options.config.advertised = reader.text("advertise").value_or("");
    const std::size_t bytes = options.config.advertised.size();
    if (bytes > protocol::advertised_bytes_max) {
        reader.refuse("advertise", "has " + std::to_string(bytes) + " bytes; right are at most " +
                                       std::to_string(protocol::advertised_bytes_max));
    }
    if (!is_utf8(options.config.advertised)) {
        reader.refuse("advertise", "is not UTF-8; right is text in UTF-8");
    }
}

void read_algorithm(OptionReader& reader, NodeOptions& options) {
    protocol::Config& config = options.config;
    config.algorithm =
        reader
            .word<Algorithm>("algorithm", {{"bully", Algorithm::bully}, {"ring", Algorithm::ring}})
            .value_or(config.algorithm);
    config.quorum = reader
                        .word<QuorumMode>("quorum", {{"majority", QuorumMode::majority},
                                                     {"none", QuorumMode::none}})
                        .value_or(config.quorum);
}

/// A command that has to be killed needs its time before the lease ends, so the lease is longer by
/// that than the one by which everything else is scaled.
struct RoomToKill {
    protocol::Duration kill_after;
    std::optional<protocol::Duration> lease_given;

    void take_from(protocol::TimingRequest& request) {
        lease_given = request.lease;
        if (!lease_given) return;
        request.lease.reset();
        if (*lease_given > kill_after) request.lease = *lease_given - kill_after;
    }
    void add_to(protocol::Timing& timing) const {
        timing.kill_margin = kill_after + kill_safety(timing.lease);
        timing.step_down_timeout = timing.kill_margin;
        const protocol::Duration least =
            timing.kill_margin + timing.suspect_after + timing.heartbeat * 2 + timing.pause;
        timing.lease = lease_given.value_or(std::max(timing.lease + kill_after, least));
    }
};

/// What validate() does not ask for: time to notice that the majority is gone.
void check_room_to_kill(const NodeOptions& options, protocol::Duration kill_after,
                        Problems& problems) {
    const protocol::Timing& timing = options.config.timing;
    if (kill_after + timing.suspect_after + timing.heartbeat * 2 <= timing.lease) return;
    report(problems, std::string("timing (profile ") + name(options.profile) + ")",
           "kill-after (" + to_text(kill_after) + ") + suspect-after (" +
               to_text(timing.suspect_after) + ") + 2 × heartbeat (" +
               to_text(timing.heartbeat * 2) + ") must be ≤ lease (" + to_text(timing.lease) + ")");
}

void report_long_kill_after(OptionReader& reader, const protocol::Timing& timing,
                            protocol::Duration kill_after) {
    const std::string needed = to_text(timing.lease);
    const protocol::Duration most = timing.lease_max - (timing.lease - kill_after);
    const std::string right = most.ns > 0 ? "at most " + to_text(most) + ", or " : "";
    const std::string what = "the lease that it needs, " + needed + ", must be ≤ lease-max (" +
                             to_text(timing.lease_max) + "); right is " + right +
                             "a longer --lease-max on all members";
    if (reader.given("kill-after"))
        reader.refuse("kill-after", "is too long: " + what);
    else
        reader.report("kill-after", "2s is too long: " + what);
}

void read_timing(OptionReader& reader, NodeOptions& options,
                 const std::optional<protocol::Duration>& kill_after, Problems& problems) {
    using protocol::Profile;
    protocol::TimingRequest request;
    const std::size_t problems_before = problems.size();
    request.profile = reader
                          .word<Profile>("profile", {{"realtime", Profile::realtime},
                                                     {"fast", Profile::fast},
                                                     {"lan", Profile::lan},
                                                     {"cloud", Profile::cloud},
                                                     {"wan", Profile::wan}})
                          .value_or(request.profile);
    request.heartbeat = reader.positive_duration("heartbeat");
    request.suspect_after = reader.positive_duration("suspect-after");
    request.lease = reader.positive_duration("lease");
    request.lease_max = reader.positive_duration("lease-max").value_or(request.lease_max);
    request.preempt_delay = reader.duration("preempt-delay").value_or(request.preempt_delay);
    options.profile = request.profile;

    const std::size_t members = std::max<std::size_t>(options.config.members.size(), 1);
    const Algorithm algorithm = options.config.algorithm;
    // A longer one is refused by its lease, with a sum that fits into 64 bits.
    RoomToKill room{std::min(kill_after.value_or(protocol::Duration{}), protocol::seconds(86'400)),
                    {}};
    if (kill_after) room.take_from(request);
    options.config.timing = make_timing(request, members, algorithm);
    const protocol::Duration stretched = options.config.timing.lease;
    const protocol::Timing without_command = options.config.timing;
    if (kill_after) room.add_to(options.config.timing);
    // What could not be read has no number that a constraint could be told with.
    if (problems.size() != problems_before) return;
    if (kill_after && !room.lease_given &&
        options.config.timing.lease > options.config.timing.lease_max) {
        report_long_kill_after(reader, options.config.timing, *kill_after);
        // The other constraints are told as if it were not so.
        options.config.timing = without_command;
        room = {};
    }
    for (const std::string& broken : validate(options.config.timing, members, algorithm)) {
        report(problems, std::string("timing (profile ") + name(request.profile) + ")", broken);
    }
    if (room.kill_after.ns > 0) check_room_to_kill(options, *kill_after, problems);
    const protocol::Duration asked = make_timing(request, members, Algorithm::bully).lease;
    if (stretched > asked) {
        options.start_notes.push_back("the lease is " + to_text(stretched) + ", not " +
                                      to_text(asked) + ": a token needs that on a ring of " +
                                      std::to_string(members));
    }
}

void read_start(OptionReader& reader, NodeOptions& options) {
    using protocol::FirstEpoch;
    options.config.bootstrap_wait =
        reader.duration("bootstrap-wait").value_or(options.config.bootstrap_wait);
    options.config.first_epoch = reader
                                     .word<FirstEpoch>("first-epoch", {{"clock", FirstEpoch::clock},
                                                                       {"0", FirstEpoch::zero}})
                                     .value_or(options.config.first_epoch);
    options.realtime = reader
                           .word<RealtimeMode>("realtime", {{"on", RealtimeMode::on},
                                                            {"off", RealtimeMode::off},
                                                            {"auto", RealtimeMode::automatic}})
                           .value_or(options.realtime);
    options.events_file = reader.text("events").value_or("");
    options.trace_file = reader.text("trace").value_or("");
}

void read_hooks(OptionReader& reader, NodeOptions& options) {
    options.hooks.on_elected = reader.text("on-elected").value_or("");
    options.hooks.on_deposed = reader.text("on-deposed").value_or("");
    options.hooks.on_change = reader.text("on-change").value_or("");
    const std::optional<bool> fast_release = reader.boolean("fast-release");
    options.config.fast_release = fast_release.value_or(true);
    if (!options.hooks.any()) return;
    // What a hook has started may outlive the process, so the end of the process releases nothing.
    options.config.tie = false;
    if (fast_release == true) {
        options.start_notes.emplace_back(
            "fast-release is off for this node's own leadership, because hooks are set");
    }
    if (options.config.quorum != QuorumMode::none) return;
    for (const std::string_view flag : hook_flags) {
        if (!reader.text(flag).value_or("").empty()) {
            reader.report(flag,
                          "it can't be used with quorum none, where two nodes may lead at "
                          "once; right is --quorum majority, or no hook");
        }
    }
}

void read_health(OptionReader& reader, NodeOptions& options) {
    options.health.command = reader.text("health-cmd").value_or("");
    options.health.interval =
        reader.positive_duration("health-interval").value_or(options.health.interval);
    options.health.timeout =
        reader.positive_duration("health-timeout").value_or(options.health.timeout);
    constexpr std::int64_t failures_max = 1000;
    options.health.failures = static_cast<int>(
        reader.integer("health-failures", 1, failures_max, "a whole number, 1 … 1000")
            .value_or(options.health.failures));
    if (!options.health.command.empty()) return;
    if (reader.given("health-cmd")) reader.refuse("health-cmd", "names no command");
    for (const std::string_view flag : {"health-interval", "health-timeout", "health-failures"}) {
        if (reader.given(flag))
            reader.report(flag, "it needs --health-cmd CMD, which is not given");
    }
}

void add_quorum_notes(NodeOptions& options) {
    if (options.config.quorum == QuorumMode::none) {
        options.start_notes.emplace_back(
            "quorum none elects a leader on each side of a partition; quorum majority "
            "does not");
        return;
    }
    const std::size_t members = options.config.members.size();
    if (members == 0 || members % 2 != 0) return;
    const std::size_t survives = members - options.config.members.majority();
    const auto failures = [](std::size_t count) {
        return std::to_string(count) + (count == 1 ? " failure" : " failures");
    };
    options.start_notes.push_back(
        std::to_string(members) + " members survive " +
        (survives == 0 ? "no failure"
                       : failures(survives) + ", no more than " + std::to_string(members - 1) +
                             " members do") +
        "; " + std::to_string(members + 1) + " would survive " + failures(survives + 1));
}

}  // namespace

void read_data_dir(OptionReader& reader, const Environment& environment, NodeOptions& options) {
    const auto variable = [&](std::string_view key) {
        const auto found = environment.find(key);
        return found == environment.end() ? std::string() : found->second;
    };
    if (reader.given("data-dir")) {
        options.data_dir = reader.text("data-dir").value_or("");
        if (reader.text("data-dir") == "") reader.refuse("data-dir", "names no directory");
        return;
    }
    const std::string state_directory = variable("STATE_DIRECTORY");
    if (!state_directory.empty()) {
        options.data_dir = state_directory.substr(0, state_directory.find(':'));
        return;
    }
    std::string base = variable("XDG_STATE_HOME");
    // The specification has relative paths ignored.
    if (!base.starts_with('/')) {
        const std::string home = variable("HOME");
        if (home.empty()) {
            reader.report("data-dir",
                          "it has no default, because STATE_DIRECTORY, XDG_STATE_HOME and HOME "
                          "are all unset; right is --data-dir DIR");
            return;
        }
        base = home + "/.local/state";
    }
    options.data_dir = base + "/bullring/" + options.config.cluster + "/node-" +
                       std::to_string(options.config.self.value);
}

NodeOptions member_options(OptionReader& reader, const Environment& environment,
                           const std::optional<protocol::Duration>& kill_after,
                           Problems& problems) {
    NodeOptions options;
    read_members(reader, options);
    options.config.cluster = reader.cluster();
    read_algorithm(reader, options);
    read_rank(reader, options, kill_after.has_value());
    read_timing(reader, options, kill_after, problems);
    read_start(reader, options);
    read_hooks(reader, options);
    // on-deposed runs when the command has ended.
    if (kill_after && options.hooks.any()) {
        protocol::Duration& time = options.config.timing.step_down_timeout;
        time = time + hook_time;
    }
    read_health(reader, options);
    read_data_dir(reader, environment, options);
    options.log = reader.log();
    add_quorum_notes(options);
    return options;
}

NodeOptions node_options(const RawValues& values, const Environment& environment,
                         Problems& problems) {
    OptionReader reader(values, problems);
    return member_options(reader, environment, std::nullopt, problems);
}

}  // namespace bullring
