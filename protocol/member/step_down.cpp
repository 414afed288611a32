// The beginning and the end of a leadership (PROTOCOL R5, §9). The end is strictly in its order:
// unpublish, end the task, RESIGN, and only then may sessions close. The reasons for one: resign,
// stop, health, stall, the task's own end; an engine adds its own.
#include <algorithm>
#include <utility>

#include "protocol/member/member.hpp"
#include "protocol/values/assert.hpp"

namespace bullring::protocol {

void Member::become_leader(Step& step) {
    tenure_.become_leader(step);
    forget_hold_off(step.now);
    for (const Index i : setup_.others()) {
        Peer& peer = peers_[i];
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
    publish(step);
}

void Member::publish(Step& step) {
    const Instant end = lease_end();
    // R3.8: only what leaves the time to end the task.
    if (!tenure_.published() && !lease_valid(step.now, end - timing().kill_margin)) return;
    tenure_.publish(step, end, untied_until(), grants(step.now));
}

void Member::become_follower(Step& step) {
    const Epoch given_up = epoch();
    tenure_.become_follower(step);
    on_follower(given_up);
}

void Member::step_down(Step& step, DeposedReason reason, NodeId successor) {
    if (!tenure_.leads()) return;
    // R5.1: all but a stalled one renew until the task has ended.
    tenure_.become_stepping_down(step, {reason, successor, reason != DeposedReason::stalled,
                                        step.now + timing().step_down_timeout});
    // R5.2: the task ends first.
    if (!tenure_.stop_task(step)) finish_step_down(step);
}

void Member::finish_step_down(Step& step) {
    BULLRING_ASSERT(role() == Role::stepping_down && !tenure_.task_running());
    const Epoch given_up = epoch();
    const StepDown how = tenure_.step_down();
    const bool was_published = tenure_.published();
    const Instant end = earlier(step.now, lease_end());
    // R5.3
    become_follower(step);
    // The successor first: it is the one that everybody waits for.
    const auto successor = setup_.members().index(how.successor);
    const Resign resign{given_up, how.successor};
    if (successor) send(step, *successor, resign);
    for (const Index i : setup_.others())
        if (i != successor) send(step, i, resign);
    if (was_published) step.act(Deposed{given_up, how.reason, end});
    if (how.reason == DeposedReason::lease_expired || how.reason == DeposedReason::higher_rank)
        return;
    // R5.9: it keeps the reservation that it announced, or it would win again at once by its rank.
    const Instant reserved = step.now + timing().reservation();
    gate_.stand_back_until(reserved + timing().coordinator_wait);
    if (!how.successor) return;
    gate_.reserve(how.successor, reserved);
    if (successor && how.reason == DeposedReason::preempted)
        peers_[*successor].handed_over = given_up;
}

namespace {

/// R5.5: a task that its guard has ended did so for the lease, as the guard saw it.
DeposedReason why_over(const TaskEnded& event) {
    if (!event.by_itself) return DeposedReason::lease_expired;
    return event.failed ? DeposedReason::task_failed : DeposedReason::task_ended;
}

}  // namespace

void Member::on_task_ended(Step& step, const TaskEnded& event) {
    if (event.epoch != epoch() || !tenure_.task_running()) return;
    tenure_.task_ended();
    if (tenure_.leads())
        step_down(step, why_over(event), best_successor(step.now));
    else if (role() == Role::stepping_down)
        finish_step_down(step);
}

// R5.8: the highest that could take over.
NodeId Member::best_successor(Instant now) const {
    NodeId best = nobody;
    Rank best_rank;
    for (const Index i : setup_.others()) {
        if (unfit(id(i), now)) continue;
        if (best && peers_.rank(i) < best_rank) continue;
        best = id(i);
        best_rank = peers_.rank(i);
    }
    return best;
}

std::optional<Member::Unfit> Member::unfit(NodeId to, Instant now) const {
    const auto index = setup_.members().index(to);
    if (!index) return Unfit::stranger;
    if (*index == me()) return Unfit::leader_itself;
    if (!peers_.connected(*index, now)) return Unfit::not_connected;
    // One that is away may come back with another priority.
    if (peers_[*index].introduction.priority.is_never()) return Unfit::never_leads;
    const Heartbeat& last = peers_[*index].heartbeat;
    if (last.recovering) return Unfit::silent;
    if (!last.eligible) return Unfit::not_standing;
    if (!last.quorum_connected) return Unfit::no_majority;
    return std::nullopt;
}

std::string Member::text(Unfit unfit, NodeId of) {
    std::string name = "node " + std::to_string(of.value);
    switch (unfit) {
        case Unfit::stranger: return name + " is not a member";
        case Unfit::leader_itself: return name + " is the leader itself";
        case Unfit::never_leads: return name + " is a voter that never leads (priority never)";
        case Unfit::not_connected: return name + " is not connected";
        case Unfit::silent: return name + " is silent after a restart";
        case Unfit::not_standing: return name + " does not stand at the moment";
        case Unfit::no_majority: return name + " is not connected to a majority";
    }
    return name;
}

void Member::on_resign_requested(Step& step, const ResignRequested& event) {
    ResignAnswer refusal{event.request, false, {}, false};
    NodeId successor = event.to;
    if (!tenure_.leads()) {
        refusal.why = "node " + std::to_string(setup_.self().value) + " does not lead";
    } else if (successor) {
        if (const auto why = unfit(successor, step.now)) {
            refusal.why = text(*why, successor);
            refusal.lasting = *why <= Unfit::never_leads;
        }
    } else {
        successor = best_successor(step.now);
        refusal.lasting = true;
        for (const Index i : setup_.others()) {
            const auto why = unfit(id(i), step.now);
            if (!why || *why > Unfit::never_leads) refusal.lasting = false;
        }
        if (!successor && !event.regardless)
            refusal.why = refusal.lasting
                              ? "no successor: no other member ever leads"
                              : "no successor: no other eligible node is connected to a majority";
    }
    if (!refusal.why.empty()) {
        if (event.request.asker != Asker::none) step.act(std::move(refusal));
        return;
    }
    reported_.answer_when_replaced(event.request, epoch());
    gate_.be_modest(step.now, timing());
    step_down(step, DeposedReason::resigned, successor);
}

void Member::on_members_requested(Step& step, const MembersRequested& event) {
    if (event.request.asker != Asker::none)
        step.act(
            MembersAnswer{event.request, false, "with quorum none the members never change", true});
}

void Member::on_resign(Step& step, const AcceptedSession& from, const Resign& resign) {
    if (!learn_epoch(step.now, resign.epoch)) return;
    Peer& peer = peers_[from.peer];
    const NodeId sender = id(from.peer);
    if (peer.resigned_by != from.incarnation) peer.resigned_epoch = {};
    peer.resigned_by = from.incarnation;
    peer.resigned_epoch = std::max(peer.resigned_epoch, resign.epoch);
    if (peer.incarnation == from.incarnation) {
        peers_.note_gone(from.peer, std::max(peer.gone_epoch, resign.epoch), step.now);
        if (peer.view.leader == sender && peer.view.epoch <= resign.epoch) peer.view = {};
    }
    // R5.10: no reservation but where the promise was to that leadership.
    const bool promised = on_resigned(from, resign.epoch);
    if (promised && resign.successor)
        gate_.reserve(resign.successor, step.now + timing().reservation());
    if (resign.successor == setup_.self() && tenure_.follows() && !bound(step.now))
        election_timer_.call(Call::successor);
}

void Member::on_stalled(Step& step) {
    step_down(step, DeposedReason::stalled, best_successor(step.now));
}

void Member::on_health_changed(Step& step, const HealthChanged& event) {
    if (event.healthy == gate_.healthy()) return;
    if (event.healthy) return gate_.recovers(step.now, timing().preempt_delay);
    gate_.falls_ill();
    abandon(step, Duration{0});
    step_down(step, DeposedReason::unhealthy, best_successor(step.now));
}

void Member::on_standing(Step& step, const Standing& event) {
    gate_.set_willing(event.willing);
    if (!event.willing) abandon(step, Duration{0});
}

void Member::on_stop(Step& step) {
    if (gate_.stopping()) return;
    gate_.stop();
    abandon(step, Duration{0});
    step_down(step, DeposedReason::stopped, best_successor(step.now));
}

/// Called before the leader that was reported last is replaced: it has led until now.
void Member::forget_hold_off(Instant now) {
    const auto leader = setup_.members().index(reported_.leader());
    if (!leader || elapsed(reported_.since(), now) < timing().preempt_delay) return;
    peers_[*leader].handed_over = {};
    peers_[*leader].hand_over_hold_off = Duration{0};
}

}  // namespace bullring::protocol
