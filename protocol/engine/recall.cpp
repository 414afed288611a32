// A restarted node asks the others what it has promised, and need not wait until all that it can
// have promised is over (PROTOCOL R6).
#include "protocol/engine/engine.hpp"

namespace bullring::protocol {

Recall Engine::recall(Instant now, Index i, const Hello& hello) const {
    Recall answer;
    const Instant counted = tenure_.follows() ? long_ago : holder_.lease().counted_until(i);
    // R6.5: held.
    if (lease_valid(now, counted)) {
        answer.answer = Recall::Answer::held;
        answer.epoch = epoch();
        answer.remaining = promise_left(now, counted);
        answer.to_leader = role() != Role::candidate;
        return answer;
    }
    // R6.6: by one clock it is over, by the other it is not, and only one can be right (R8).
    if (!promise_over(now, counted)) return answer;
    // R6.7: what an earlier run of this node has started may act under a lease that counts a vote
    // of the asking one: its hooks, or what it left on another machine when it lost its disk.
    const bool others_act = recovering() && (!recovery_.had_file() || recovery_.hooks_before());
    const Peer& peer = peers_[i];
    const bool met_before =
        peer.many_runs || (peer.has_ack && peer.ack.incarnation != hello.incarnation);
    const bool can_tell =
        hello.had_file_at_start ? !others_act && due(now, peer.lost_until) : !met_before;
    // R6.8: another process with this node's id may lead with that vote. R6.9: else none.
    if (can_tell && promise_over(now, twin_over())) answer.answer = Recall::Answer::none;
    return answer;
}

Recall::Answer Engine::told_by(Index i) const {
    const Peer& peer = peers_[i];
    const Recall& recall = peer.ack.recall;
    if (!peer.has_ack) return Recall::Answer::cannot_tell;
    if (recall.answer != Recall::Answer::held) return recall.answer;
    // It has resigned since, and counts nothing of that epoch any more.
    if (recall.epoch <= peers_.resigned_epoch({id(i), peer.ack.incarnation}))
        return Recall::Answer::none;
    // R6.4: nobody is asked for a longer lease, and what is not believed is no answer (R9).
    const bool credible = recall.remaining.ns > 0 && recall.remaining <= timing().lease_max &&
                          recall.epoch <= max_seen_;
    return credible ? recall.answer : Recall::Answer::cannot_tell;
}

std::optional<Engine::Held> Engine::held() const {
    std::optional<Held> found;
    for (const Index i : setup_.others()) {
        if (told_by(i) != Recall::Answer::held) continue;
        if (found) return std::nullopt;  // a voter promises to one at a time: one of them is wrong
        const HelloAck& ack = peers_[i].ack;
        found = Held{{{id(i), ack.incarnation},
                      ack.recall.epoch,
                      ack.recall.to_leader,
                      timing().promise(ack.recall.remaining),
                      no_session},
                     peers_[i].ack_at};
    }
    return found;
}

bool Engine::nothing_held() const {
    if (!answered_id()) return false;  // they are of two clusters
    for (const Index i : setup_.others())
        if (told_by(i) != Recall::Answer::none) return false;
    return true;
}

bool Engine::all_are_new() const {
    for (const Index i : setup_.others())
        if (peers_[i].ack.had_file_at_start) return false;
    return nothing_held();
}

}  // namespace bullring::protocol
