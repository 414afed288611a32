#include "protocol/tenure/elections.hpp"

#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/leaders.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

namespace {

/// A node that has just started waits until it can have heard of the others, and they of it.
bool others_heard(const Parts& node, Instant now) {
    if (node.election_timer.leader_ever_known() ||
        due(now, node.setup.started() + node.timing().suspect_after))
        return true;
    const MemberSet others = node.peers.connected(now);
    return others == node.setup.others() && can_send_to_all(node, others);
}

/// Of those that could lead all have been heard, or were waited for long enough.
bool others_awaited(const Parts& node, Instant now) {
    if (!node.fenced()) return others_heard(node, now);
    // B1.2: votes that cannot be had yet are not asked for.
    if (!majority_votes(node, now)) return false;
    // A cold start elects the highest: wait for those of higher rank that are still silent, or that
    // cannot be asked yet: their heartbeat may be here before the answer to our greeting.
    if (node.election_timer.leader_ever_known()) return true;
    if (due(now, node.recovery.over_at() + node.timing().promise(node.timing().lease))) return true;
    const Instant poll_over = node.recovery.over_at() + node.timing().poll_wait;
    const MemberSet connected = node.peers.connected(now);
    // One that asks again without a file (R6) is out of reach for a moment, and still silent.
    for (const Index i : node.setup.others()) {
        const Heartbeat& last = node.peers[i].heartbeat;
        if (node.peers.rank(i) < node.own_rank() || node.peers[i].introduction.priority.is_never())
            continue;
        if (last.recovering && last.eligible) return false;
        // One that has answered a node whose silence has just ended early is about to be heard.
        const bool just_begun = node.recovery.ended_early() && !due(now, poll_over);
        if (just_begun && node.peers[i].has_ack && !connected.contains(i)) return false;
    }
    return can_send_to_all(node, node.peers.connected_higher(now));
}

}  // namespace

bool may_start(const Parts& node, Instant now) {
    // B1.1
    if (!may_campaign(node, now) || leader_known(node, now) || !quorum_connected(node, now))
        return false;
    return node.election_timer.retry_due(now) && node.election_timer.start_due(now) &&
           others_awaited(node, now);
}

bool next_epoch_durable(const Parts& node) {
    return !node.fenced() ||
           (node.max_seen + 1 <= node.reserve.on_disk().hw && node.reserve.has_members());
}

bool answer_call(Parts& node, Step& step) {
    if (node.election_timer.call() == Call::none) return false;
    if (!may_campaign(node, step.now)) {
        node.election_timer.end_call();
        return false;
    }
    if (node.election_timer.call() == Call::disk && !next_epoch_durable(node)) return false;
    if (node.election_timer.call() == Call::successor)
        say_election_started(node, step, "named as the successor");
    node.election_timer.end_call();
    return true;
}

void say_election_started(const Parts& node, Step& step, const char* reason) {
    step.act(ElectionStarted{node.max_seen + 1, reason});
}

void advance_elections(Parts& node, Instant now) {
    const bool connected_majority = quorum_connected(node, now);
    if (!connected_majority) {
        node.quorum_since = never;
    } else if (node.quorum_since == never) {
        node.quorum_since = now;
    }
    const bool known = leader_known(node, now);
    // R5.7: the probation after bad health lets others lead. Where none can, it would only be a
    // time without a leader.
    if (node.gate.on_probation(now) && connected_majority && !known &&
        !node.peers.another_may_lead(now))
        node.gate.end_probation(now);
    ElectionTimer& timer = node.election_timer;
    if (timer.leader_lost(known)) timer.on_leader_lost(now);
    if (!timer.start_due(now))
        timer.start_within(node.timing().stagger * higher_connected(node, now));
    timer.note_leader(known, first_hand(node, now).announced);
}

}  // namespace bullring::protocol
