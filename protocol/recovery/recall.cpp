#include "protocol/recovery/recall.hpp"

#include "protocol/membership/identity.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

Recall recall(const Parts& node, Instant now, Index i, const Hello& hello) {
    Recall answer;
    const Instant counted = node.tenure.follows() ? long_ago : node.holder.lease().counted_until(i);
    // R6.5: held.
    if (lease_valid(now, counted)) {
        answer.answer = Recall::Answer::held;
        answer.epoch = node.epoch();
        answer.remaining = promise_left(now, counted);
        answer.to_leader = node.role() != Role::candidate;
        return answer;
    }
    // R6.6: by one clock it is over, by the other it is not, and only one can be right (R8).
    if (!promise_over(now, counted)) return answer;
    // R6.7: what an earlier run of this node has started may act under a lease that counts a vote
    // of the asking one: its hooks, or what it left on another machine when it lost its disk.
    const bool others_act =
        node.recovering() && (!node.recovery.had_file() || node.recovery.hooks_before());
    const Peer& peer = node.peers[i];
    const bool met_before =
        peer.many_runs || (peer.has_ack && peer.ack.incarnation != hello.incarnation);
    const bool can_tell =
        hello.had_file_at_start ? !others_act && due(now, peer.lost_until) : !met_before;
    // R6.8: another process with this node's id may lead with that vote. R6.9: else none.
    if (can_tell && promise_over(now, twin_over(node))) answer.answer = Recall::Answer::none;
    return answer;
}

Recall::Answer told_by(const Parts& node, Index i) {
    const Peer& peer = node.peers[i];
    const Recall& recall = peer.ack.recall;
    if (!peer.has_ack) return Recall::Answer::cannot_tell;
    if (recall.answer != Recall::Answer::held) return recall.answer;
    // It has resigned since, and counts nothing of that epoch any more.
    if (recall.epoch <= node.peers.resigned_epoch({node.id(i), peer.ack.incarnation}))
        return Recall::Answer::none;
    // R6.19: nobody is asked for a longer lease, and what is not believed is no answer (R9).
    const bool credible = recall.remaining.ns > 0 && recall.remaining <= node.timing().lease_max &&
                          recall.epoch <= node.max_seen;
    return credible ? recall.answer : Recall::Answer::cannot_tell;
}

std::optional<Held> held(const Parts& node) {
    std::optional<Held> found;
    for (const Index i : node.setup.others()) {
        if (told_by(node, i) != Recall::Answer::held) continue;
        // R6.20: a voter promises to one at a time: one of them is wrong.
        if (found) return std::nullopt;
        const HelloAck& ack = node.peers[i].ack;
        found = Held{{{node.id(i), ack.incarnation},
                      ack.recall.epoch,
                      ack.recall.to_leader,
                      node.timing().promise(ack.recall.remaining),
                      no_session},
                     node.peers[i].ack_at};
    }
    return found;
}

bool nothing_held(const Parts& node) {
    if (!answered_id(node)) return false;  // they are of two clusters
    for (const Index i : node.setup.others())
        if (told_by(node, i) != Recall::Answer::none) return false;
    return true;
}

bool all_are_new(const Parts& node) {
    for (const Index i : node.setup.others())
        if (node.peers[i].ack.had_file_at_start) return false;
    return nothing_held(node);
}

}  // namespace bullring::protocol
