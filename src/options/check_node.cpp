// The checks of the settings of a member of a cluster, alone or with a command: what must hold
// between the values, and what follows from them.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "protocol/values/messages.hpp"
#include "src/options/options.hpp"
#include "src/options/request.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

using protocol::Algorithm;
using protocol::Duration;
using protocol::FastRelease;
using protocol::Profile;
using protocol::QuorumMode;

void check_members(const MemberRequest& request, NodeOptions& options, Report& report) {
    report.require("id", request.id.given, "this node's ID, 1 … 9223372036854775807");
    report.require("peers", request.peers.given, "ID=HOST:PORT,… or @FILE");
    options.peers = request.peers.value_or({});
    options.config.self = request.id.value_or(protocol::nobody);

    std::vector<protocol::NodeId> ids;
    for (const auto& [id, endpoint] : options.peers) ids.push_back(id);
    // Too many members have been reported; the set can't hold them.
    ids.resize(std::min(ids.size(), protocol::members_max));
    options.config.members = protocol::Membership(std::move(ids));

    const auto own_entry = options.peers.find(options.config.self);
    if (own_entry != options.peers.end()) {
        options.listen = own_entry->second;
    } else if (options.config.self && !options.peers.empty()) {
        report.refuse("id", std::to_string(options.config.self.value),
                      "is not in the peer list, which has " + ids_text(options.peers));
    }
    options.listen = request.listen.value_or(options.listen);
}

void check_advertised(const std::string& text, Report& report) {
    if (text.size() > protocol::advertised_bytes_max) {
        report.refuse("advertise", text,
                      "has " + std::to_string(text.size()) + " bytes; expected at most " +
                          std::to_string(protocol::advertised_bytes_max));
    }
    if (!is_utf8(text)) report.refuse("advertise", text, "is not UTF-8; expected text in UTF-8");
}

// ---- Timing. ------------------------------------------------------------------------------------

/// All that the timing follows from.
struct TimingQuestion {
    protocol::TimingRequest request;
    std::size_t members = 1;
    Algorithm algorithm = Algorithm::bully;
    std::optional<Duration> kill_after;   // of a command, for which the lease must have room
    const char* fixed_end = nullptr;      // what that is called, if it is not --kill-after
    bool has_task = false;                // in this process
    std::optional<Duration> stop_margin;  // the user's own for it
};

struct TimingProblem {
    bool of_kill_after = false;
    std::string text;
    bool operator==(const TimingProblem&) const = default;
};

struct TimingAnswer {
    protocol::Timing timing;
    std::vector<TimingProblem> problems;
    std::string note;
};

/// A command that has to be killed needs its time before the lease ends, so the lease is longer by
/// that than the one by which everything else is scaled.
void add_room_to_kill(protocol::Timing& timing, Duration kill_after,
                      const std::optional<Duration>& lease_given) {
    timing.kill_margin = kill_after + kill_safety(timing.lease);
    timing.step_down_timeout = timing.kill_margin;
    const Duration least =
        timing.kill_margin + timing.suspect_after + timing.heartbeat * 2 + timing.pause;
    timing.lease = lease_given.value_or(std::max(timing.lease + kill_after, least));
}

/// Too long when the lease that it makes necessary is longer than any that may be granted.
std::string why_kill_after_too_long(const protocol::Timing& timing, Duration kill_after) {
    const Duration most = timing.lease_max - (timing.lease - kill_after);
    return "the lease that it needs, " + to_text(timing.lease) + ", must be ≤ lease-max (" +
           to_text(timing.lease_max) + "); use " +
           (most.ns > 0 ? "at most " + to_text(most) + ", or " : "") +
           "a longer --lease-max on all members";
}

/// What validate() does not ask for: time to notice that the majority is gone.
void check_room_to_kill(const protocol::Timing& timing, Duration kill_after, const char* fixed_end,
                        std::vector<std::string>& broken) {
    if (kill_after + timing.suspect_after + timing.heartbeat * 2 <= timing.lease) return;
    const std::string end = fixed_end != nullptr ? fixed_end : "kill-after";
    broken.push_back(end + " (" + to_text(kill_after) + ") + suspect-after (" +
                     to_text(timing.suspect_after) + ") + 2 × heartbeat (" +
                     to_text(timing.heartbeat * 2) + ") must be ≤ lease (" + to_text(timing.lease) +
                     ")");
}

void set_stop_margin(protocol::Timing& timing, const std::optional<Duration>& given,
                     std::vector<std::string>& broken) {
    const Duration room = timing.lease - timing.heartbeat * 2 - timing.pause;
    timing.kill_margin =
        given.value_or(std::min(timing.lease / 5, std::max(room / 2, Duration{0})));
    if (!given || *given < room) return;
    broken.push_back("stop-margin (" + to_text(*given) + ") + 2 × heartbeat (" +
                     to_text(timing.heartbeat * 2) + ") + pause (" + to_text(timing.pause) +
                     ") must be < lease (" + to_text(timing.lease) + ")");
}

TimingAnswer timing_for(TimingQuestion question) {
    TimingAnswer answer;
    const std::optional<Duration> lease_given = question.request.lease;
    // A longer one is refused by its lease, with a sum that fits into 64 bits.
    const Duration kill_after =
        std::min(question.kill_after.value_or(Duration{}), protocol::seconds(86'400));
    if (question.kill_after && lease_given) {
        question.request.lease.reset();
        if (*lease_given > kill_after) question.request.lease = *lease_given - kill_after;
    }
    protocol::Timing timing = make_timing(question.request, question.members, question.algorithm);
    const Duration stretched = timing.lease;
    answer.timing = timing;
    if (question.kill_after) add_room_to_kill(timing, kill_after, lease_given);
    const bool is_flag = question.fixed_end == nullptr;
    if (question.kill_after && is_flag && !lease_given && timing.lease > timing.lease_max) {
        answer.problems.push_back({true, why_kill_after_too_long(timing, *question.kill_after)});
        // The other constraints are told as if it were not so.
        question.kill_after.reset();
    } else {
        answer.timing = timing;
    }
    std::vector<std::string> broken = validate(answer.timing, question.members, question.algorithm);
    if (const auto& end = question.kill_after)
        check_room_to_kill(answer.timing, *end, question.fixed_end, broken);
    if (question.has_task) set_stop_margin(answer.timing, question.stop_margin, broken);
    for (std::string& constraint : broken)
        answer.problems.push_back({false, std::move(constraint)});
    const Duration asked = make_timing(question.request, question.members, Algorithm::bully).lease;
    if (stretched > asked) {
        answer.note = "the lease is " + to_text(stretched) + ", not " + to_text(asked) +
                      ": a token on a ring of " + std::to_string(question.members) +
                      " members needs that long";
    }
    return answer;
}

/// Stand for values that can't be read.
struct StandIns {
    Duration duration;
    Profile profile = Profile::lan;
    Algorithm algorithm = Algorithm::bully;
};

TimingQuestion timing_question(const MemberRequest& request, const NodeOptions& options,
                               const EndOfWork& end_of_work, const StandIns& stand_ins) {
    const auto known = [](const auto& asked, auto stand_in, auto standard) {
        return asked.unusable() ? stand_in : asked.value ? *asked.value : standard;
    };
    const auto maybe = [&](const Asked<Duration>& asked) {
        return asked.unusable() ? stand_ins.duration : asked.value;
    };
    TimingQuestion question;
    protocol::TimingRequest& timing = question.request;
    timing.profile = known(request.profile, stand_ins.profile, timing.profile);
    timing.heartbeat = maybe(request.heartbeat);
    timing.suspect_after = maybe(request.suspect_after);
    timing.lease = maybe(request.lease);
    timing.lease_max = known(request.lease_max, stand_ins.duration, timing.lease_max);
    timing.preempt_delay = known(request.preempt_delay, stand_ins.duration, timing.preempt_delay);
    question.members = std::max<std::size_t>(options.config.members.size(), 1);
    question.algorithm = known(request.algorithm, stand_ins.algorithm, options.config.algorithm);
    if (const auto& kill_after = end_of_work.kill_after)
        question.kill_after = known(*kill_after, stand_ins.duration, RunOptions{}.kill_after);
    question.fixed_end = end_of_work.fixed_end;
    question.has_task = end_of_work.stop_margin.has_value();
    if (question.has_task) question.stop_margin = maybe(*end_of_work.stop_margin);
    return question;
}

void check_timing(const MemberRequest& request, NodeOptions& options, const EndOfWork& end_of_work,
                  Report& report) {
    const auto answer_with = [&](const StandIns& stand_ins) {
        return timing_for(timing_question(request, options, end_of_work, stand_ins));
    };
    TimingAnswer answer =
        answer_with({protocol::milliseconds(1), Profile::realtime, Algorithm::bully});
    const std::vector<TimingProblem> others =
        answer_with({protocol::seconds(3600), Profile::wan, Algorithm::ring}).problems;
    options.profile = request.profile.value_or(options.profile);
    options.config.timing = answer.timing;

    const std::string subject = std::string("timing (profile ") + name(options.profile) + ")";
    bool sound = true;
    for (const TimingProblem& problem : answer.problems) {
        // A constraint that is broken with the same numbers for either of two values does not
        // depend on the one that can't be read.
        if (std::find(others.begin(), others.end(), problem) == others.end()) continue;
        sound = false;
        if (!problem.of_kill_after) {
            report.add((request.profile.unusable() ? "timing" : subject) + ": " + problem.text);
        } else if (const auto& kill_after = end_of_work.kill_after->value) {
            report.refuse("kill-after", to_text(*kill_after), "is too long: " + problem.text);
        } else {
            report.say("kill-after",
                       to_text(RunOptions{}.kill_after) + " is too long: " + problem.text);
        }
    }
    if (sound && !answer.note.empty()) options.start_notes.push_back(std::move(answer.note));
}

// -------------------------------------------------------------------------------------------------

/// Shorter, and the system's own pauses would be told from a hang no more.
constexpr Duration hang_after_min = protocol::milliseconds(1);

/// `standard`: when it is not given.
Duration checked_hang_after(const MemberRequest& request, const protocol::Timing& timing,
                            Duration standard, Report& report) {
    const Duration hang_after = request.hang_after.value_or(standard);
    if (!request.hang_after.value || hang_after.ns == 0) return hang_after;
    if (hang_after < hang_after_min) {
        report.refuse("hang-after", to_text(hang_after),
                      "is too short; expected at least " + to_text(hang_after_min) + ", or off");
    } else if (!request.lease.unusable() && !request.profile.unusable() &&
               hang_after >= timing.lease) {
        report.refuse("hang-after", to_text(hang_after),
                      "is too long: it must be < lease (" + to_text(timing.lease) +
                          "), after which another node leads anyway; or off");
    }
    return hang_after;
}

/// The end of a connection can be forged by anybody on its way, so it proves nothing where that is
/// feared.
FastRelease checked_fast_release(const MemberRequest& request, SecurityMode security,
                                 Report& report) {
    const bool secured = security != SecurityMode::none;
    if (secured && request.fast_release.value == FastRelease::fin)
        report.refuse("fast-release", "fin",
                      "can't be used with security " + std::string(name(security)) +
                          ", because anybody on the way can end a connection; expected notice or "
                          "off");
    return request.fast_release.value_or(secured ? FastRelease::notice : FastRelease::fin);
}

void check_hooks(const MemberRequest& request, NodeOptions& options, Report& report) {
    if (!options.hooks.any()) return;
    // What a hook has started may outlive the process, so the end of the process releases nothing.
    options.config.tie = false;
    options.config.hooks = true;
    if (request.fast_release.value.value_or(FastRelease::off) != FastRelease::off) {
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

void add_security_notes(NodeOptions& options) {
    const bool secured = options.security.mode != SecurityMode::none;
    if (secured && !options.security.migrate) return;
    // A port that is forwarded, or listened to at all addresses, is reached from elsewhere although
    // the members know each other by loopback.
    const bool here = is_loopback(options.listen.host) &&
                      std::all_of(options.peers.begin(), options.peers.end(),
                                  [](const auto& peer) { return is_loopback(peer.second.host); });
    if (!secured && here) return;
    options.start_notes.push_back(std::string(secured ? "security-migrate" : "security none") +
                                  ": whoever reaches these ports can read, and say, everything");
}

}  // namespace

std::string checked_data_dir(const Asked<std::string>& data_dir, const Environment& environment,
                             const std::string& cluster, protocol::NodeId self, Report& report) {
    const auto variable = [&](std::string_view key) {
        const auto found = environment.find(key);
        return found == environment.end() ? std::string() : found->second;
    };
    if (data_dir.value == "") report.refuse("data-dir", "", "names no directory");
    if (data_dir.given) return data_dir.value_or("");
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
    return base + "/bullring/" + cluster + "/node-" + std::to_string(self.value);
}

NodeOptions checked(const MemberRequest& request, const Environment& environment,
                    const EndOfWork& end_of_work, Report& report) {
    NodeOptions options = request.options;
    protocol::Config& config = options.config;
    const bool supervised = end_of_work.kill_after.has_value();
    check_members(request, options, report);
    config.algorithm = request.algorithm.value_or(config.algorithm);
    // A better node that comes back is worth no restart of a command.
    config.preempt = request.preempt.value_or(config.algorithm == Algorithm::bully && !supervised);
    check_advertised(config.advertised, report);
    check_timing(request, options, end_of_work, report);
    // Not the process of somebody who has not asked for it.
    const Duration pause = end_of_work.stop_margin ? Duration{0} : config.timing.pause;
    options.hang_after = checked_hang_after(request, config.timing, pause, report);
    options.security =
        checked_security(request.security, options.peers, config.cluster, config.self, report);
    config.fast_release = checked_fast_release(request, options.security.mode, report);
    check_hooks(request, options, report);
    // on-deposed runs when the command has ended.
    if (supervised && options.hooks.any())
        config.timing.step_down_timeout = config.timing.step_down_timeout + hook_time;
    options.data_dir =
        checked_data_dir(request.data_dir, environment, config.cluster, config.self, report);
    add_quorum_notes(options);
    add_security_notes(options);
    return options;
}

}  // namespace bullring
