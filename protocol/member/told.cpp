#include "protocol/member/told.hpp"

#include <utility>

namespace bullring::protocol {

HeartbeatClock::Due HeartbeatClock::due_now(Instant now, const HeartbeatState& state,
                                            Duration stagger) {
    if (state == state_) {
        changed_at_ = never;
    } else if ((state.eligible && !state_.eligible) || (!state.recovering && state_.recovering)) {
        // Rare, and a leader that is asked to hand over to this node, or an election that needs its
        // vote, waits for it.
        changed_at_ = now;
    } else if (changed_at_ == never) {
        changed_at_ = now + stagger;
    }
    if (due(now, next_)) return Due::periodic;
    return due(now, changed_at_) ? Due::changed : Due::no;
}

void ToldLeader::tell(Step& step, const LeaderView& view, std::string advertised) {
    leader_ = view.leader;
    since_ = step.now;
    if (view.leader) epoch_ = view.epoch;
    step.act(LeaderChanged{leader_, epoch_, std::move(advertised)});
}

void ToldLeader::answer_when_replaced(std::uint64_t request, Epoch given_up) {
    resign_request_ = request;
    resigned_epoch_ = given_up;
}

void ToldLeader::answer_resign(Step& step, NodeId self) {
    if (resign_request_ == 0 || !leader_ || epoch_ <= resigned_epoch_) return;
    if (leader_ == self)
        step.act(ResignAnswer{resign_request_, false, "no other node took over"});
    else
        step.act(ResignAnswer{resign_request_, true, {}});
    resign_request_ = 0;
}

}  // namespace bullring::protocol
