// The end of a leadership (PROTOCOL R5), strictly in its order: unpublish, end the task, RESIGN,
// and only then may sessions close. And the reasons for one: resign, preemption, stop, health,
// lapse.
#include <algorithm>

#include "protocol/assert.hpp"
#include "protocol/core.hpp"

namespace bullring::protocol {

void Core::check_lapse(Step& step) {
    if (role_ == Role::leader) {
        if (lease_valid(step.now, textbook() ? textbook_end_ : lease_end() - timing().kill_margin))
            return;
        if (!published_ && lease_valid(step.now, lease_end())) return;
        // Lapse is final, whatever grants arrive later.
        become_stepping_down(step, DeposedReason::lease_expired, nobody, false);
        if (!task_running_) return finish_step_down(step);
        step.act(StopTask{epoch(), DeposedReason::lease_expired});
        return;
    }
    if (role_ != Role::stepping_down || !step_down_.renewing) return;
    if (due(step.now, step_down_.give_up_at) ||
        (!textbook() && !lease_valid(step.now, lease_end()))) {
        step_down_.renewing = false;
        next_renewal_ = never;
    }
}

void Core::step_down(Step& step, DeposedReason reason, NodeId successor) {
    if (role_ != Role::leader) return;
    become_stepping_down(step, reason, successor, reason != DeposedReason::stalled && !textbook());
    if (!task_running_) return finish_step_down(step);
    step.act(StopTask{epoch(), reason});
}

namespace {

/// A task that its guard has ended did so for the lease, as the guard saw it.
DeposedReason why_over(const TaskEnded& event) {
    if (!event.by_itself) return DeposedReason::lease_expired;
    return event.failed ? DeposedReason::task_failed : DeposedReason::task_ended;
}

}  // namespace

void Core::on_task_ended(Step& step, const TaskEnded& event) {
    if (event.epoch != epoch() || !task_running_) return;
    task_running_ = false;
    if (role_ == Role::leader)
        step_down(step, why_over(event), best_successor(step.now));
    else if (role_ == Role::stepping_down)
        finish_step_down(step);
}

void Core::finish_step_down(Step& step) {
    BULLRING_ASSERT(role_ == Role::stepping_down && !task_running_);
    const Epoch given_up = epoch();
    const StepDown how = step_down_;
    const bool was_published = published_;
    const Instant end = textbook() ? step.now : earlier(step.now, lease_end());
    become_follower(step);
    promise_.release_resigned(own_key(), given_up);
    // The successor first: it is the one that everybody waits for.
    const auto successor = config_.members.index(how.successor);
    const Resign resign{given_up, how.successor};
    if (successor) send(step, *successor, resign);
    for (Index i = 0; i < size(); ++i)
        if (i != successor) send(step, i, resign);
    if (was_published) step.act(Deposed{given_up, how.reason, end});
    if (how.reason == DeposedReason::lease_expired || how.reason == DeposedReason::higher_rank)
        return;
    // It keeps the reservation that it announced, or it would win again at once by its rank.
    stand_back_until_ = step.now + timing().reservation() + timing().coordinator_wait;
    if (!how.successor) return;
    reservation_ = {how.successor, step.now + timing().reservation()};
    if (successor && how.reason == DeposedReason::preempted)
        peers_[*successor].handed_over = given_up;
}

NodeId Core::best_successor(Instant now) const {
    NodeId best = nobody;
    Rank best_rank;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_ || !why_not_successor(id(i), now).empty()) continue;
        if (best && rank(i) < best_rank) continue;
        best = id(i);
        best_rank = rank(i);
    }
    return best;
}

std::string Core::why_never_successor(NodeId to, Instant now) const {
    const std::string name = "node " + std::to_string(to.value);
    const auto index = config_.members.index(to);
    if (!index) return name + " is not a member";
    if (*index == me_) return name + " is the leader itself";
    // It may come back with another priority.
    if (!connected(*index, now) || !peers_[*index].introduction.priority.is_never()) return {};
    return name + " is a voter that never leads (priority never)";
}

std::string Core::why_not_successor(NodeId to, Instant now) const {
    if (std::string reason = why_never_successor(to, now); !reason.empty()) return reason;
    const std::string name = "node " + std::to_string(to.value);
    const Index index = *config_.members.index(to);
    const Peer& peer = peers_[index];
    if (!connected(index, now)) return name + " is not connected";
    if (!peer.has_heartbeat) return {};
    if (peer.heartbeat.recovering) return name + " is silent after a restart";
    if (!peer.heartbeat.eligible) return name + " does not stand at the moment";
    if (!peer.heartbeat.quorum_connected) return name + " is not connected to a majority";
    return {};
}

void Core::on_resign_requested(Step& step, const ResignRequested& event) {
    ResignAnswer refusal{event.request, false, {}, false};
    NodeId successor = event.to;
    if (role_ != Role::leader) {
        refusal.why = "node " + std::to_string(config_.self.value) + " does not lead";
    } else if (successor) {
        refusal.why = why_not_successor(successor, step.now);
        refusal.lasting = !why_never_successor(successor, step.now).empty();
    } else {
        successor = best_successor(step.now);
        refusal.lasting = true;
        for (Index i = 0; i < size(); ++i)
            if (why_never_successor(id(i), step.now).empty()) refusal.lasting = false;
        if (!successor)
            refusal.why = refusal.lasting
                              ? "no successor: no other member ever leads"
                              : "no successor: no other eligible node is connected to a majority";
    }
    if (!refusal.why.empty()) {
        if (event.request != 0) step.act(std::move(refusal));
        return;
    }
    resign_request_ = event.request;
    resigned_epoch_ = epoch();
    const Duration longest = timing().hand_over_hold_off_max;
    const bool again = modest_for_.ns > 0 && !due(step.now, modest_until_ + longest);
    modest_for_ = again ? std::min(modest_for_ * 2, longest) : timing().hand_over_hold_off;
    modest_until_ = step.now + modest_for_;
    step_down(step, DeposedReason::resigned, successor);
}

void Core::on_stalled(Step& step) {
    step_down(step, DeposedReason::stalled, best_successor(step.now));
}

void Core::on_health_changed(Step& step, const HealthChanged& event) {
    if (event.healthy == healthy_) return;
    healthy_ = event.healthy;
    if (healthy_) {
        healthy_from_ = step.now + timing().preempt_delay;
        return;
    }
    if (role_ == Role::candidate) abandon(step, Duration{0});
    step_down(step, DeposedReason::unhealthy, best_successor(step.now));
}

void Core::on_standing(Step& step, const Standing& event) {
    willing_ = event.willing;
    if (!willing_ && role_ == Role::candidate) abandon(step, Duration{0});
}

void Core::on_tying(Step& step, const Tying& event) {
    if (untied_ == !event.tie) return;
    untied_ = !event.tie;
    // Whoever waits for grants that no session's end can release need not wait for a heartbeat.
    if (untied_ && own_lease_valid(step.now) && next_renewal_ != never) next_renewal_ = step.now;
}

void Core::on_stop(Step& step) {
    if (stopping_) return;
    stopping_ = true;
    if (role_ == Role::candidate) abandon(step, Duration{0});
    step_down(step, DeposedReason::stopped, best_successor(step.now));
}

void Core::consider_preemption(Step& step) {
    if (!config_.preempt || role_ != Role::leader || !published_ || textbook()) return;
    const Duration stable = timing().preempt_delay;
    if (elapsed(elected_at_, step.now) < stable) return;
    NodeId best = nobody;
    Rank best_rank = own_rank();
    for (Index i = 0; i < size(); ++i) {
        const Peer& peer = peers_[i];
        if (i == me_ || rank(i) < best_rank || !why_not_successor(id(i), step.now).empty())
            continue;
        if (!peer.has_heartbeat || !due(step.now, peer.hand_over_not_before)) continue;
        const Duration quorum_age =
            peer.heartbeat.quorum_age + elapsed(peer.heartbeat_at, step.now);
        // An age of 0 is told on purpose by a node that its user has asked to resign.
        if (peer.heartbeat.quorum_age.ns == 0 || quorum_age < stable) continue;
        if (!peer.up || elapsed(peer.up_since, step.now) < stable) continue;
        best = id(i);
        best_rank = rank(i);
    }
    if (best) step_down(step, DeposedReason::preempted, best);
}

/// Called before the leader that was told last is replaced: it has led until now.
void Core::forget_hold_off(Instant now) {
    const auto leader = config_.members.index(told_leader_);
    if (!leader || elapsed(told_leader_since_, now) < timing().preempt_delay) return;
    peers_[*leader].handed_over = {};
    peers_[*leader].hand_over_hold_off = Duration{0};
}

Duration Core::reported_quorum_age(Instant now) const {
    if (quorum_since_ == never || !due(now, modest_until_)) return Duration{0};
    return std::max(elapsed(quorum_since_, now), Duration{1});
}

void Core::follow_higher_leader(Step& step) {
    if (role_ != Role::leader) return;
    for (Index i = 0; i < size(); ++i)
        if (i != me_ && heard(i, step.now) && peers_[i].view.leader == id(i) &&
            rank(i) > own_rank())
            return step_down(step, DeposedReason::higher_rank, nobody);
}

}  // namespace bullring::protocol
