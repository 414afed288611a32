// The check of a node's timing: what must hold between its times, and what follows from them.
#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/text/text.hpp"
#include "src/settings/request.hpp"

namespace bullring {

namespace {

using protocol::Algorithm;
using protocol::Duration;

using Quantities = std::vector<std::string_view>;

/// Those that hang on no value that can't be read, by their words in a constraint; nullopt when
/// everything could be read, so that all are known.
std::optional<Quantities> known_quantities(const Request& request, const EndOfWork& end_of_work) {
    const auto unusable = [](const auto& end) { return end && end->unusable; };
    if (!request.profile.unusable && !request.algorithm.unusable && !request.heartbeat.unusable &&
        !request.suspect_after.unusable && !request.lease.unusable && !request.lease_max.unusable &&
        !request.preempt_delay.unusable && !unusable(end_of_work.kill_after) &&
        !unusable(end_of_work.stop_margin))
        return std::nullopt;
    Quantities known;
    // The others scale with those that are given.
    if (request.heartbeat.asked()) known.emplace_back("heartbeat");
    if (request.suspect_after.asked()) known.emplace_back("suspect-after");
    if (request.lease.asked()) known.emplace_back("lease");
    if (!request.lease_max.unusable) known.emplace_back("lease-max");
    if (!request.preempt_delay.unusable) known.emplace_back("preempt-delay");
    return known;
}

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

/// `validate()` does not ask for this: time to notice that the majority is gone.
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

}  // namespace

protocol::Timing checked_timing(const Request& request, std::size_t members,
                                const EndOfWork& end_of_work, std::vector<std::string>& notes,
                                Report& report) {
    const Algorithm algorithm = request.algorithm.value;
    const auto known = known_quantities(request, end_of_work);
    const std::optional<Duration> lease = request.lease.asked();
    protocol::TimingRequest wish{request.profile.value,     lease,
                                 request.heartbeat.asked(), request.suspect_after.asked(),
                                 request.lease_max.value,   request.preempt_delay.value};
    bool is_killed = end_of_work.kill_after.has_value();
    Duration kill_after;
    if (is_killed) {
        // A longer one is refused by its lease, with a sum that fits into 64 bits.
        kill_after = std::min(end_of_work.kill_after->value, protocol::seconds(86'400));
        wish.lease.reset();
        if (lease && *lease > kill_after) wish.lease = *lease - kill_after;
    }
    protocol::Timing timing = make_timing(wish, members, algorithm);
    const Duration asked = make_timing(wish, members, Algorithm::bully).lease;
    if (timing.lease > asked) {
        notes.push_back("the lease is " + to_text(timing.lease) + ", not " + to_text(asked) +
                        ": a token on a ring of " + std::to_string(members) +
                        " members needs that long");
    }
    if (is_killed) {
        protocol::Timing with_room = timing;
        add_room_to_kill(with_room, kill_after, lease);
        const bool too_long = !lease && with_room.lease > with_room.lease_max;
        if (!known && too_long && end_of_work.fixed_end == nullptr) {
            const Duration given = end_of_work.kill_after->value;
            const std::string text = to_text(given);
            const std::string why = " is too long: " + why_kill_after_too_long(with_room, given);
            report.say("kill-after",
                       (end_of_work.kill_after->given ? in_quotes(text) : text) + why);
            // The other constraints are judged as if it were not so.
            is_killed = false;
        } else {
            timing = with_room;
        }
    }
    std::vector<std::string> broken = validate(timing, members, algorithm, known);
    std::vector<std::string> of_end;
    if (is_killed) check_room_to_kill(timing, kill_after, end_of_work.fixed_end, of_end);
    if (end_of_work.stop_margin) set_stop_margin(timing, end_of_work.stop_margin->asked(), of_end);
    if (!known) broken.insert(broken.end(), of_end.begin(), of_end.end());
    const std::string profile =
        request.profile.unusable ? "" : std::string(" (profile ") + name(wish.profile) + ")";
    for (const std::string& constraint : broken) report.add("timing" + profile + ": " + constraint);
    return timing;
}

}  // namespace bullring
