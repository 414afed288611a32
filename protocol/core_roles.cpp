// The only place that changes role and epoch, and that publishes them.
#include "protocol/assert.hpp"
#include "protocol/core.hpp"

namespace bullring::protocol {

void Core::become_candidate(Step& step, Epoch epoch) {
    BULLRING_ASSERT(role_ == Role::follower);
    role_ = Role::candidate;
    lease_.begin(epoch);
    refused_by_ = {};
    candidate_until_ = step.now + timing().campaign_wait;
    step.act(RoleChanged{role_, epoch});
}

void Core::become_leader(Step& step) {
    BULLRING_ASSERT(role_ == Role::candidate);
    role_ = Role::leader;
    candidate_until_ = never;
    elected_at_ = step.now;
    next_renewal_ = step.now;
    if (textbook()) textbook_end_ = never;
    forget_hold_off(step.now);
    for (Peer& peer : peers_) {
        if (!peer.handed_over) continue;
        // It was handed the leadership and did not take it, or soon lost it: not again for a while,
        // doubling.
        peer.hand_over_hold_off =
            peer.hand_over_hold_off.ns == 0
                ? timing().hand_over_hold_off
                : std::min(peer.hand_over_hold_off * 2, timing().hand_over_hold_off_max);
        peer.hand_over_not_before = step.now + peer.hand_over_hold_off;
        peer.handed_over = {};
    }
    step.act(RoleChanged{role_, epoch()});
    publish(step);
}

void Core::publish(Step& step) {
    const Instant end = textbook() ? textbook_end_ : lease_end();
    if (!published_ && !lease_valid(step.now, end - timing().kill_margin)) return;
    step.act(Publish{epoch(), end, textbook() ? long_ago : lease_.untied_deadline()});
    if (published_) return;
    published_ = true;
    task_running_ = true;
    MemberSet grants = lease_.voters(step.now);
    if (textbook()) grants.insert(me_);
    step.act(Elected{epoch(), grants});
    step.act(StartTask{epoch()});
}

void Core::become_stepping_down(Step& step, DeposedReason reason, NodeId successor, bool renewing) {
    BULLRING_ASSERT(role_ == Role::leader);
    role_ = Role::stepping_down;
    step_down_ = {reason, successor, renewing, step.now + timing().step_down_timeout};
    if (!renewing) next_renewal_ = never;
    if (published_) step.act(Publish{Epoch{}, long_ago, long_ago});
    step.act(RoleChanged{role_, epoch()});
}

void Core::become_follower(Step& step) {
    role_ = Role::follower;
    lease_.end();
    textbook_end_ = long_ago;
    candidate_until_ = never;
    next_renewal_ = never;
    elected_at_ = never;
    published_ = false;
    refused_by_ = {};
    step.act(RoleChanged{role_, epoch()});
}

}  // namespace bullring::protocol
