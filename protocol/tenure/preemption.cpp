#include "protocol/tenure/preemption.hpp"

#include "protocol/tenure/step_down.hpp"
#include "protocol/tenure/successors.hpp"

namespace bullring::protocol {

void consider_preemption(Parts& node, Step& step) {
    if (!node.tenure.leads() || !node.tenure.published()) return;
    // R5.16: whatever `--preempt` says, for nobody works here.
    if (node.gate.work() == Work::none)
        if (const NodeId asked = best_asked(node, step.now))
            return step_down(node, step, DeposedReason::preempted, asked);
    if (!node.config().preempt) return;
    const Duration stable = node.timing().preempt_delay;
    if (elapsed(node.tenure.elected_at(), step.now) < stable) return;
    NodeId best = nobody;
    Rank best_rank = node.own_rank();
    for (const Index i : node.setup.others()) {
        const Peer& peer = node.peers[i];
        if (node.peers.rank(i) < best_rank || unfit(node, node.id(i), step.now)) continue;
        if (!due(step.now, peer.hand_over_not_before)) continue;
        const Duration quorum_age =
            peer.heartbeat.quorum_age + elapsed(peer.heartbeat_at, step.now);
        // A node that its user has asked to resign reports an age of 0 on purpose.
        if (peer.heartbeat.quorum_age.ns == 0 || quorum_age < stable) continue;
        if (!peer.up || elapsed(peer.up_since, step.now) < stable) continue;
        best = node.id(i);
        best_rank = node.peers.rank(i);
    }
    if (best) step_down(node, step, DeposedReason::preempted, best);
}

}  // namespace bullring::protocol
