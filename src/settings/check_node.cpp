// The checks of the settings of a member of a cluster, alone or with a command: what must hold
// between the values, and what follows from them. Its timing is in check_timing.cpp.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "protocol/values/algorithms.hpp"
#include "protocol/values/messages.hpp"
#include "src/base/text/text.hpp"
#include "src/settings/check_files.hpp"
#include "src/settings/request.hpp"
#include "src/settings/survival_note.hpp"

namespace bullring {

namespace {

using protocol::Algorithm;
using protocol::Duration;
using protocol::FastRelease;
using protocol::QuorumMode;

/// Of the members it knows none yet but itself.
void check_joining(const Request& request, NodeOptions& options, Report& report) {
    if (report.typed("join") && report.typed("peers"))
        report.say("join", "it comes in place of " + report.flag("peers") +
                               ", which is given, too; expected one of the two");
    if (request.quorum.value == QuorumMode::none)
        report.say("join", "it can't be used with quorum none, where the members never change");
    if (request.join.value.empty() && !request.join.unusable)
        report.refuse("join", "", "names nobody; expected HOST:PORT,…");
    if (!request.listen.given && !request.join_as.given)
        report.say("join", "it needs " + report.flag("listen") +
                               " HOST:PORT, where this node is to listen; 0.0.0.0:PORT will do");
    if (request.join_as.asked() && is_unspecified(request.join_as.value.host))
        report.refuse("join-as", to_text(request.join_as.value),
                      "is an address that nobody else can dial; expected that of one interface, or "
                      "a name");
    options.join = request.join.value;
    options.join_as = request.join_as.value;
    options.voter = request.voter.value;
    // As a founder listens where the peer list has it.
    options.listen = request.listen.asked().value_or(options.join_as);
    options.peers = {
        {options.config.self, options.join_as.port != 0 ? options.join_as : options.listen}};
}

/// A flag that is typed comes before settings that serve other nodes and commands, too: such
/// settings name the founders, and where all others join.
bool joins(const Request& request, const Report& report) {
    if (!request.join.given || !request.peers.given) return request.join.given;
    if (report.typed("join")) return true;
    return !report.typed("peers") && !request.peers.value.contains(request.id.value);
}

void check_members(const Request& request, NodeOptions& options, Report& report) {
    report.require("id", request.id.given, "this node's ID, 1 … 9223372036854775807");
    options.config.self = request.id.value;
    if (joins(request, report)) return check_joining(request, options, report);
    report.require("peers", request.peers.given,
                   "ID=HOST:PORT,… or @FILE; or " + report.flag("join"));
    for (const auto& [flag, given] :
         {std::pair{"join-as", request.join_as.given}, {"voter", request.voter.value}})
        if (given && report.typed(flag))
            report.say(flag,
                       request.join.given
                           ? "it is for nodes that join, and peers has this one"
                           : "it needs " + report.flag("join") + " HOST:PORT, which is not given");
    options.peers = request.peers.value;

    std::vector<protocol::MemberEntry> founders;
    for (const auto& [id, endpoint] : options.peers) {
        // Too many members have been reported; the list can't hold them.
        if (founders.size() == protocol::members_max) break;
        const auto slot = static_cast<protocol::Index>(founders.size());
        founders.push_back({id, slot, true, to_text(endpoint)});
    }
    options.config.members = protocol::Membership::of_founders(std::move(founders));

    const auto own_entry = options.peers.find(options.config.self);
    if (own_entry != options.peers.end()) {
        options.listen = own_entry->second;
    } else if (options.config.self && !options.peers.empty()) {
        report.refuse("id", std::to_string(options.config.self.value),
                      "is not in the peer list, which has " + ids_text(options.peers));
    }
    options.listen = request.listen.asked().value_or(options.listen);
}

void take_as_asked(const Request& request, NodeOptions& options) {
    protocol::Config& config = options.config;
    config.cluster = request.cluster.value;
    config.algorithm = request.algorithm.value;
    config.quorum = request.quorum.value;
    config.priority = request.priority.value;
    config.advertised = request.advertise.value;
    config.bootstrap_wait = request.bootstrap_wait.value;
    config.first_epoch = request.first_epoch.value;
    config.forget_after = request.forget_after.value;
    config.wire_highest = static_cast<std::uint16_t>(request.wire.value);
    options.profile = request.profile.value;
    options.realtime = request.realtime.value;
    options.events_file = request.events.value;
    options.trace_file = request.trace.value;
    options.hooks = {request.on_elected.value, request.on_deposed.value, request.on_change.value};
    options.allow_drill = request.allow_drill.value;
    options.log = request.log();
}

void check_advertised(const std::string& text, Report& report) {
    if (text.size() > protocol::advertised_bytes_max) {
        report.refuse("advertise", text,
                      "has " + std::to_string(text.size()) + " bytes; expected at most " +
                          std::to_string(protocol::advertised_bytes_max));
    }
    if (!is_utf8(text)) report.refuse("advertise", text, "is not UTF-8; expected text in UTF-8");
}

/// One that is only suspected may be back with the next heartbeat.
void check_forget_after(const protocol::Config& config, Report& report) {
    if (config.forget_after.ns == 0 || config.forget_after >= config.timing.suspect_after) return;
    report.refuse("forget-after", to_text(config.forget_after),
                  "is too short: it must be ≥ suspect-after (" +
                      to_text(config.timing.suspect_after) + "), or 0 for never");
}

HealthOptions checked_health(const Request& request, Report& report) {
    const std::string& command = request.health_cmd.value;
    if (request.health_cmd.asked() == "") report.refuse("health-cmd", "", "names no command");
    for (const auto& [flag, given] : {std::pair{"health-interval", request.health_interval.given},
                                      {"health-timeout", request.health_timeout.given},
                                      {"health-failures", request.health_failures.given}})
        if (given && command.empty())
            report.say(flag, "it needs --health-cmd CMD, which is not given");
    return {command, request.health_interval.value, request.health_timeout.value,
            request.health_failures.value};
}

/// `standard`: when it is not given.
Duration checked_hang_after(const Request& request, const protocol::Timing& timing,
                            Duration standard, Report& report) {
    const Duration hang_after = request.hang_after.asked().value_or(standard);
    if (request.hang_after.asked() && !request.lease.unusable && !request.profile.unusable &&
        hang_after >= timing.lease) {
        report.refuse("hang-after", to_text(hang_after),
                      "is too long: it must be < lease (" + to_text(timing.lease) +
                          "), after which another node leads anyway; or off");
    }
    return hang_after;
}

/// The end of a connection can be forged by anybody on its way, so it proves nothing where that is
/// feared.
FastRelease checked_fast_release(const Request& request, SecurityMode security, Report& report) {
    const bool secured = security != SecurityMode::none;
    if (secured && request.fast_release.asked() == FastRelease::fin)
        report.refuse("fast-release", "fin",
                      "can't be used with security " + std::string(name(security)) +
                          ", because anybody on the way can end a connection; expected notice or "
                          "off");
    return request.fast_release.asked().value_or(secured ? FastRelease::notice : FastRelease::fin);
}

void check_hooks(const Request& request, NodeOptions& options, Report& report) {
    if (!options.hooks.any()) return;
    // A process that a hook has started may outlive this one, so the end of this process releases
    // nothing.
    options.config.tie = false;
    options.config.hooks = true;
    if (request.fast_release.asked().value_or(FastRelease::off) != FastRelease::off) {
        options.start_notes.emplace_back(
            "fast-release is off for this node's own leadership, because hooks are set");
    }
    if (options.config.quorum != QuorumMode::none) return;
    for (const auto& [flag, hook] : {std::pair{"on-elected", &options.hooks.on_elected},
                                     {"on-deposed", &options.hooks.on_deposed},
                                     {"on-change", &options.hooks.on_change}}) {
        if (hook->empty()) continue;
        report.say(flag,
                   "it can't be used with quorum none, where two nodes may lead at once; "
                   "use --quorum majority, or no hook");
    }
}

void add_quorum_notes(NodeOptions& options) {
    if (options.config.quorum == QuorumMode::none) {
        options.start_notes.emplace_back(
            "quorum none elects a leader on each side of a partition; quorum majority "
            "does not");
        return;
    }
    if (!options.join.empty()) return;
    if (std::string note = survival_note(options.config.members); !note.empty())
        options.start_notes.push_back(std::move(note));
}

void add_security_notes(NodeOptions& options) {
    const bool secured = options.security.mode != SecurityMode::none;
    if (secured && !options.security.migrate) return;
    // A port that is forwarded, or listened to at all addresses, is reached from elsewhere although
    // the members know each other by loopback.
    const bool here =
        is_loopback(options.listen.host) &&
        std::all_of(options.join.begin(), options.join.end(),
                    [](const Endpoint& member) { return is_loopback(member.host); }) &&
        std::all_of(options.peers.begin(), options.peers.end(),
                    [](const auto& peer) { return is_loopback(peer.second.host); });
    if (!secured && here) return;
    options.start_notes.push_back(std::string(secured ? "security-migrate" : "security none") +
                                  ": whoever reaches these ports can read, and say, everything");
}

}  // namespace

std::string checked_data_dir(const Request& request, const Environment& environment,
                             protocol::NodeId self, Report& report) {
    const auto variable = [&](std::string_view key) {
        const auto found = environment.find(key);
        return found == environment.end() ? std::string() : found->second;
    };
    if (request.data_dir.asked() == "") report.refuse("data-dir", "", "names no directory");
    if (request.data_dir.given) return request.data_dir.value;
    const std::string state_directory = variable("STATE_DIRECTORY");
    if (!state_directory.empty()) return state_directory.substr(0, state_directory.find(':'));
    std::string base = variable("XDG_STATE_HOME");
    // The specification has relative paths ignored.
    if (!base.starts_with('/')) {
        const std::string home = variable("HOME");
        if (home.empty()) {
            report.say("data-dir",
                       "it has no default, because STATE_DIRECTORY, XDG_STATE_HOME and "
                       "HOME are all unset; give " +
                           report.flag("data-dir") + " DIR");
        }
        base = home + "/.local/state";
    }
    return base + "/bullring/" + request.cluster.value + "/node-" + std::to_string(self.value);
}

NodeOptions checked_before_security(const Request& request, const EndOfWork& end_of_work,
                                    Report& report) {
    NodeOptions options;
    protocol::Config& config = options.config;
    check_members(request, options, report);
    take_as_asked(request, options);
    // A better node that comes back is worth no restart of a command.
    config.preempt = request.preempt.asked().value_or(
        protocol::algorithm_row(config.algorithm).preempts && !end_of_work.kill_after.has_value());
    check_advertised(config.advertised, report);
    options.health = checked_health(request, report);
    options.http = checked_http(request, report);
    options.attach = checked_attach(request, report);
    config.timing = checked_timing(request, std::max<std::size_t>(config.members.size(), 1),
                                   end_of_work, options.start_notes, report);
    check_forget_after(config, report);
    // Not the process of somebody who has not asked for it.
    const Duration pause = end_of_work.stop_margin ? Duration{0} : config.timing.pause;
    options.hang_after = checked_hang_after(request, config.timing, pause, report);
    return options;
}

void check_after_security(const Request& request, const Environment& environment,
                          const EndOfWork& end_of_work, NodeOptions& options, Report& report) {
    protocol::Config& config = options.config;
    config.fast_release = checked_fast_release(request, options.security.mode, report);
    check_hooks(request, options, report);
    // on-deposed runs when the command has ended.
    if (end_of_work.kill_after.has_value() && options.hooks.any())
        config.timing.step_down_timeout = config.timing.step_down_timeout + hook_time;
    options.data_dir = checked_data_dir(request, environment, config.self, report);
    add_quorum_notes(options);
    add_security_notes(options);
    check_written_files(options, request.config.value, report);
    note_loose_files(options, request.config.value);
}

}  // namespace bullring
