#include "protocol/tenure/step_down.hpp"

#include <algorithm>

#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/successors.hpp"
#include "protocol/values/assert.hpp"

namespace bullring::protocol {

namespace {

/// R5.11: a task that its guard has ended did so for the lease, as the guard saw it.
DeposedReason why_over(const TaskEnded& event) {
    if (!event.by_itself) return DeposedReason::lease_expired;
    return event.failed ? DeposedReason::task_failed : DeposedReason::task_ended;
}

/// Its task has ended.
void finish_step_down(Parts& node, Step& step) {
    BULLRING_ASSERT(node.role() == Role::stepping_down && !node.tenure.task_running());
    const Epoch given_up = node.epoch();
    const StepDown how = node.tenure.step_down();
    const bool was_published = node.tenure.published();
    const Instant end = earlier(step.now, node.lease_end());
    // R5.3
    become_follower(node, step);
    // The successor first: it is the one that everybody waits for.
    const auto successor = node.setup.members().index(how.successor);
    const Resign resign{given_up, how.successor};
    if (successor && successor != node.me()) send(node, step, *successor, resign);
    for (const Index i : node.setup.others())
        if (i != successor) send(node, step, i, resign);
    if (was_published) step.act(Deposed{given_up, how.reason, end});
    if (how.reason == DeposedReason::lease_expired || how.reason == DeposedReason::higher_rank)
        return;
    // R5.17: it is called as by its own RESIGN.
    if (how.successor == node.setup.self()) return node.election_timer.call(Call::successor);
    // R5.9: it keeps the reservation that it announced, or it would win again at once by its rank.
    const Instant reserved = step.now + node.timing().reservation();
    node.gate.stand_back_until(reserved + node.timing().coordinator_wait);
    if (!how.successor) return;
    node.gate.reserve(how.successor, reserved);
    if (successor && how.reason == DeposedReason::preempted)
        node.peers[*successor].handed_over = given_up;
}

}  // namespace

void publish(Parts& node, Step& step) {
    const Instant end = node.lease_end();
    // R3.8: only what leaves the time to end the task.
    if (!node.tenure.published() && !lease_valid(step.now, end - node.timing().kill_margin)) return;
    node.tenure.publish(
        step,
        {node.epoch(), end, node.holder.lease().untied_deadline(), node.reserve.on_disk().hooks},
        node.grants(step.now));
}

void become_leader(Parts& node, Step& step) {
    node.tenure.become_leader(step);
    forget_hold_off(node, step.now);
    for (const Index i : node.setup.others()) {
        Peer& peer = node.peers[i];
        if (!peer.handed_over) continue;
        // It was handed the leadership and did not take it, or soon lost it: not again for a while,
        // doubling.
        peer.hand_over_hold_off =
            peer.hand_over_hold_off.ns == 0
                ? node.timing().hand_over_hold_off
                : std::min(peer.hand_over_hold_off * 2, node.timing().hand_over_hold_off_max);
        peer.hand_over_not_before = step.now + peer.hand_over_hold_off;
        peer.handed_over = {};
    }
    publish(node, step);
}

void become_follower(Parts& node, Step& step) {
    const Epoch given_up = node.epoch();
    node.tenure.become_follower(step);
    node.holder.end();
    node.voter.release_own(node.own_key(), given_up);
}

void step_down(Parts& node, Step& step, DeposedReason reason, NodeId successor) {
    if (!node.tenure.leads()) return;
    // R5.1: all but a stalled one renew until the task has ended.
    node.tenure.become_stepping_down(step, {reason, successor, reason != DeposedReason::stalled,
                                            step.now + node.timing().step_down_timeout});
    // R5.2: the task ends first.
    if (!node.tenure.stop_task(step)) finish_step_down(node, step);
}

void on_task_ended(Parts& node, Step& step, const TaskEnded& event) {
    if (event.epoch != node.epoch() || !node.tenure.task_running()) return;
    node.tenure.task_ended();
    // R5.5: it ends the leadership.
    if (node.tenure.leads())
        step_down(node, step, why_over(event), successor_of_ended(node, step.now));
    else if (node.role() == Role::stepping_down)
        finish_step_down(node, step);
}

void check_lapse(Parts& node, Step& step) {
    // R3.9: an end that has come is found before anything else is done.
    if (node.tenure.leads()) {
        if (lease_valid(step.now, node.lease_end() - node.timing().kill_margin)) return;
        if (!node.tenure.published() && lease_valid(step.now, node.lease_end())) return;
        // R3.9: lapse is final, whatever grants arrive later.
        node.tenure.become_stepping_down(step,
                                         {DeposedReason::lease_expired, nobody, false, never});
        if (!node.tenure.stop_task(step)) finish_step_down(node, step);
        return;
    }
    if (node.role() != Role::stepping_down || !node.tenure.step_down().renewing) return;
    // R5.1: renewals end with the step-down timeout or with D, the task or not.
    if (due(step.now, node.tenure.step_down().give_up_at) ||
        !lease_valid(step.now, node.lease_end()))
        node.tenure.end_renewals();
}

bool renews(const Parts& node) {
    return node.tenure.leads() ||
           (node.role() == Role::stepping_down && node.tenure.step_down().renewing);
}

void forget_hold_off(Parts& node, Instant now) {
    const auto leader = node.setup.members().index(node.reported.leader());
    if (!leader) return;
    // R5.18
    const bool at_once = node.gate.work() == Work::none && *leader != node.me();
    if (!at_once && elapsed(node.reported.since(), now) < node.timing().preempt_delay) return;
    node.peers[*leader].handed_over = {};
    node.peers[*leader].hand_over_hold_off = Duration{0};
}

}  // namespace bullring::protocol
