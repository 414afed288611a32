#include "protocol/peers/heartbeat_clock.hpp"

#include <utility>

namespace bullring::protocol {

HeartbeatClock::Due HeartbeatClock::due_now(Instant now, const HeartbeatState& state,
                                            const Timing& timing, bool quiet,
                                            Duration report_within) {
    if (state == state_) {
        changed_at_ = never;
    } else if ((state.eligible && !state_.eligible) || (!state.recovering && state_.recovering)) {
        // Rare, and a leader that is asked to hand over to this node, or an election that needs its
        // vote, waits for it.
        changed_at_ = now;
    } else if (changed_at_ == never) {
        changed_at_ = now + report_within;
    }
    const bool awake_for_renewal = std::exchange(renewal_answered_, false);
    if (due(now, next_)) return Due::periodic;
    if (due(now, changed_at_)) return Due::changed;
    // Renewals do not come at exactly the same distance.
    const Duration pace = quiet ? timing.followers_pace() : timing.heartbeat;
    const bool others_due = due(now, others_told_at_ + (pace - timing.heartbeat / 2));
    return awake_for_renewal && others_due ? Due::all_but_leader : Due::none;
}

void HeartbeatClock::told_all(Instant now, const HeartbeatState& state, const Timing& timing) {
    told_change(now, state, timing, true);
    next_ = now + timing.heartbeat;
}

void HeartbeatClock::told_change(Instant now, const HeartbeatState& state, const Timing& timing,
                                 bool all) {
    next_ = earlier(next_, now + timing.heartbeat);
    if (all) others_told_at_ = now;
    changed_at_ = never;
    state_ = state;
}

}  // namespace bullring::protocol
