#include "protocol/tenure/standing.hpp"

#include "protocol/tenure/successors.hpp"

namespace bullring::protocol {

bool quorum_connected(const Parts& node, Instant now) {
    MemberSet there = node.peers.connected(now);
    there.insert(node.me());
    return node.is_majority(there);
}

bool majority_votes(const Parts& node, Instant now) {
    MemberSet voting;
    voting.insert(node.me());
    for (const Index i : node.peers.connected(now))
        if (!node.peers[i].heartbeat.recovering) voting.insert(i);
    return node.is_majority(voting);
}

bool eligible(const Parts& node, Instant now) {
    if (node.config().priority.is_never() || !node.gate.open(now) || node.removed()) return false;
    if (node.role() == Role::stepping_down || lease_refused(node, now)) return false;
    // R5.16
    return node.gate.work() != Work::none || !best_asked(node, now);
}

bool lease_refused(const Parts& node, Instant now) {
    if (!node.fenced()) return false;
    bool refused = false;
    MemberSet granting;
    granting.insert(node.me());
    for (const Index i : node.setup.others()) {
        if (node.peers[i].has_ack && node.timing().lease > node.peers[i].ack.lease_max)
            refused = true;
        else if (node.peers.connected(i, now))
            granting.insert(i);
    }
    // Where some refuse our lease as too long, enough others must be there: a node that stands for
    // ever, and never wins, keeps those below it from standing.
    return refused && !node.is_majority(granting);
}

// R6.24
Instant twin_over(const Parts& node) {
    Instant over = node.changes.twin_over;
    for (const Index i : node.setup.others()) over = later(over, node.peers[i].twin_over);
    return over;
}

// R6.18: after a restart. R6.14: for another process with its id.
bool silent(const Parts& node, Instant now) {
    return node.recovering() || !promise_over(now, twin_over(node));
}

bool bound(const Parts& node, Instant now) { return node.voter.promise().live(now); }

// R1.1
bool may_campaign(const Parts& node, Instant now) {
    return node.tenure.follows() && eligible(node, now) && !silent(node, now) &&
           !bound(node, now) && !node.gate.reserved_for_other(now, node.setup.self());
}

std::int64_t higher_connected(const Parts& node, Instant now) {
    return static_cast<std::int64_t>(node.peers.connected_higher(now).size());
}

}  // namespace bullring::protocol
