#include "protocol/member/reported.hpp"

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

void ReportedLeader::tell(Step& step, const LeaderView& view, std::string advertised,
                          bool after_end, Instant led_until) {
    if (leader_) unled_since_ = led_until;
    LeaderChanged change{view.leader, epoch_, std::move(advertised), after_end};
    if (last_) change.unled_since = unled_since_;
    leader_ = view.leader;
    since_ = step.now;
    if (view.leader) {
        // One that is found again may be so by somebody who does not know yet that it has ended.
        if (view.leader != last_ || view.epoch != epoch_) {
            sign_at_ = step.now;
            ended_at_ = never;
        }
        last_ = view.leader;
        change.epoch = epoch_ = view.epoch;
        unled_since_ = never;
    }
    step.act(std::move(change));
}

void ReportedLeader::answer_when_replaced(RequestId request, Epoch given_up) {
    resign_request_ = request;
    resigned_epoch_ = given_up;
}

void ReportedLeader::answer_resign(Step& step, NodeId self) {
    if (resign_request_.asker == Asker::none || !leader_ || epoch_ <= resigned_epoch_) return;
    if (leader_ == self)
        step.act(ResignAnswer{resign_request_, false, "no other node took over"});
    else
        step.act(ResignAnswer{resign_request_, true, {}});
    resign_request_ = {};
}

}  // namespace bullring::protocol
