// A leader gives way to a better one that has been there for long enough (PROTOCOL §9).
#include "protocol/engine/engine.hpp"

namespace bullring::protocol {

void Engine::consider_preemption(Step& step) {
    if (!config().preempt || !tenure_.leads() || !tenure_.published()) return;
    const Duration stable = timing().preempt_delay;
    if (elapsed(tenure_.elected_at(), step.now) < stable) return;
    NodeId best = nobody;
    Rank best_rank = own_rank();
    for (const Index i : setup_.others()) {
        const Peer& peer = peers_[i];
        if (peers_.rank(i) < best_rank || unfit(id(i), step.now)) continue;
        if (!due(step.now, peer.hand_over_not_before)) continue;
        const Duration quorum_age =
            peer.heartbeat.quorum_age + elapsed(peer.heartbeat_at, step.now);
        // A node that its user has asked to resign reports an age of 0 on purpose.
        if (peer.heartbeat.quorum_age.ns == 0 || quorum_age < stable) continue;
        if (!peer.up || elapsed(peer.up_since, step.now) < stable) continue;
        best = id(i);
        best_rank = peers_.rank(i);
    }
    if (best) step_down(step, DeposedReason::preempted, best);
}

}  // namespace bullring::protocol
