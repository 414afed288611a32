// A restarted node asks the others what it has promised, and need not wait until all that it can
// have promised is over (PROTOCOL R6).
#include "protocol/engine/engine.hpp"

namespace bullring::protocol {

Recall Engine::recall(Instant now, Index i, const Hello& hello) const {
    Recall answer;
    const Instant counted = tenure_.follows() ? long_ago : holder_.lease().counted_until(i);
    // D is taken for each clock by itself, so a grant counts until the later one is past it.
    if (!promise_over(now, counted)) {
        answer.answer = Recall::Answer::held;
        answer.epoch = epoch();
        answer.remaining = promise_left(now, counted);
        answer.to_leader = role() != Role::candidate;
        return answer;
    }
    // What an earlier run of this node has started may act under a lease that counts a vote of the
    // asking one: its hooks, or what it left on another machine when it lost its disk.
    const bool others_act = recovering() && (!recovery_.had_file() || config().hooks);
    const Peer& peer = peers_[i];
    const bool met_before =
        peer.many_runs || (peer.has_ack && peer.ack.incarnation != hello.incarnation);
    const bool can_tell = hello.had_file_at_start ? !others_act : !met_before;
    if (can_tell) answer.answer = Recall::Answer::none;
    return answer;
}

std::optional<Engine::Held> Engine::held() const {
    for (const Index i : setup_.others()) {
        const Peer& peer = peers_[i];
        const Recall& recall = peer.ack.recall;
        if (!peer.has_ack || recall.answer != Recall::Answer::held) continue;
        // Nobody is asked for a longer lease, and what is not believed is no answer (R9).
        if (recall.remaining.ns <= 0 || recall.remaining > timing().lease_max) continue;
        if (recall.epoch > max_seen_) continue;
        return Held{{{id(i), peer.ack.incarnation},
                     recall.epoch,
                     recall.to_leader,
                     timing().promise(recall.remaining),
                     no_session},
                    peer.ack_at};
    }
    return std::nullopt;
}

bool Engine::nothing_held() const {
    for (const Index i : setup_.others())
        if (!peers_[i].has_ack || peers_[i].ack.recall.answer != Recall::Answer::none) return false;
    return true;
}

bool Engine::all_are_new() const {
    for (const Index i : setup_.others())
        if (peers_[i].ack.had_file_at_start) return false;
    return nothing_held();
}

}  // namespace bullring::protocol
