#include "protocol/tenure/leaders.hpp"

#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

namespace {

/// A peer that says that it leads is believed, the highest first. The textbook's bully: a lower
/// leader is none for a higher node that may stand, unless its user has just asked it to give way.
LeaderView believed(const Parts& node, Instant now) {
    const bool bullies = node.config().preempt && eligible(node, now) && !node.gate.modest(now);
    LeaderView best;
    Rank best_rank;
    for (const Index i : node.peers.heard(now)) {
        if (node.peers[i].view.leader != node.id(i)) continue;
        if (bullies && node.peers.rank(i) < node.own_rank()) continue;
        if (best.leader && node.peers.rank(i) < best_rank) continue;
        best = node.peers[i].view;
        best_rank = node.peers.rank(i);
    }
    return best;
}

}  // namespace

LeaderView first_hand(const Parts& node, Instant now) {
    if (node.own_lease_valid(now))
        return {node.setup.self(), node.epoch(), node.lease_end(), node.tenure.published()};
    if (!node.fenced()) return believed(node, now);
    const Promise& mine = node.voter.promise();
    if (mine.live_to_other(now, node.own_key()))
        return {mine.key().id, mine.epoch(), mine.end(), mine.to_leader()};
    return {};
}

LeaderView second_hand(const Parts& node, Instant now) {
    return node.fenced() ? node.peers.second_hand(now) : LeaderView{};
}

bool leader_known(const Parts& node, Instant now) {
    return static_cast<bool>(first_hand(node, now).leader) ||
           static_cast<bool>(second_hand(node, now).leader);
}

LeaderView told_to_peers(const Parts& node, Instant now) {
    const LeaderView leader = first_hand(node, now);
    // With quorum none only the leader itself speaks of its leadership.
    return node.fenced() || leader.leader == node.setup.self() ? leader : LeaderView{};
}

Duration view_left(const Parts& node, Instant now, const LeaderView& view) {
    return node.fenced() ? promise_left(now, view.until) : node.timing().suspect_after;
}

void adopt_view(Parts& node, Step& step, Index from, const LeaderView& view) {
    if (node.fenced()) return node.peers.adopt_view(step.now, from, view);
    // Only a leader's own word counts. This node may never hear it, and would ask again as fast as
    // the network lets it.
    node.election_timer.retry_not_before(step.now + node.timing().coordinator_wait);
}

void note_other_leads(Parts& node) {
    node.gate.end_standing_back();
    node.election_timer.end_call();
}

void note_voucher(Parts& node, Instant now) {
    // With quorum none there are no renewals.
    const LeaderView leader = first_hand(node, now);
    if (node.fenced() && leader.announced && leader.leader != node.setup.self())
        node.peers.trust(node.setup.members().index(leader.leader), leader.epoch);
    else
        node.peers.trust(std::nullopt, {});
}

}  // namespace bullring::protocol
