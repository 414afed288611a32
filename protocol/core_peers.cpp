// Failure detection (PROTOCOL §6): who is heard, who is connected both ways, whether that is a
// majority, and what is known of a leader, first-hand and second-hand.
#include <algorithm>

#include "protocol/core.hpp"

namespace bullring::protocol {

Duration Core::silence_allowed(Index i) const {
    // A leader's h is at most L/5 and its L at most this node's lease-max. A longer h is a mistake
    // or a lie, and would have its sender believed to be there long after it has gone.
    const Duration period =
        std::clamp(peers_[i].introduction.heartbeat_period, Duration{0}, timing().lease_max / 5);
    return std::max(timing().suspect_after, period * 3);
}

bool Core::heard(Index i, Instant now) const {
    const Peer& peer = peers_[i];
    return peer.accepted && !due(now, peer.heard_at + silence_allowed(i));
}

bool Core::connected(Index i, Instant now) const {
    if (i == me_) return false;
    const Peer& peer = peers_[i];
    return heard(i, now) && peer.has_heartbeat && peer.heartbeat.heard.contains(me_) &&
           !peer.refused;
}

MemberSet Core::connected(Instant now) const {
    MemberSet members;
    for (Index i = 0; i < size(); ++i)
        if (connected(i, now)) members.insert(i);
    return members;
}

bool Core::quorum_connected(Instant now) const { return 1 + connected(now).size() >= majority(); }

MemberSet Core::connected_higher(Instant now) const {
    MemberSet members;
    for (Index i = 0; i < size(); ++i) {
        if (!connected(i, now) || rank(i) < own_rank()) continue;
        const Peer& peer = peers_[i];
        if (peer.introduction.priority.is_never()) continue;
        if (!peer.has_heartbeat || peer.heartbeat.eligible) members.insert(i);
    }
    return members;
}

bool Core::eligible(Instant now) const {
    if (config_.priority.is_never() || !healthy_ || !willing_ || stopping_) return false;
    if (!due(now, healthy_from_)) return false;
    if (role_ == Role::stepping_down || !due(now, stand_back_until_)) return false;
    return !lease_refused(now);
}

bool Core::another_may_lead(Instant now) const {
    for (Index i = 0; i < size(); ++i) {
        const Peer& peer = peers_[i];
        if (connected(i, now) && !peer.introduction.priority.is_never() &&
            peer.heartbeat.eligible && peer.heartbeat.quorum_connected)
            return true;
    }
    return false;
}

bool Core::lease_refused(Instant now) const {
    std::size_t refusing = 0;
    std::size_t granting = 1;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_) continue;
        const bool refuses = peers_[i].has_ack && timing().lease > peers_[i].ack.lease_max;
        if (refuses)
            ++refusing;
        else if (connected(i, now))
            ++granting;
    }
    // Where some refuse our lease as too long, enough others must be there: a node that stands for
    // ever, and never wins, keeps those below it from standing.
    return refusing != 0 && granting < majority();
}

LeaderView Core::first_hand(Instant now) const {
    if (own_lease_valid(now))
        return {config_.self, epoch(), textbook() ? never : lease_end(), published_};
    if (promise_.live_to_other(now, own_key()))
        return {promise_.key().id, promise_.epoch(), promise_.end(), promise_.to_leader()};
    if (!textbook()) return {};
    // Without a majority there are no promises: whoever says it leads is believed, the highest
    // first.
    // The textbook's bully: a lower leader is none for a higher node that may stand, unless its
    // user has just asked it to give way.
    const bool bullies = config_.preempt && eligible(now) && due(now, modest_until_);
    LeaderView best;
    Rank best_rank;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_ || !heard(i, now) || peers_[i].view.leader != id(i)) continue;
        if (bullies && rank(i) < own_rank()) continue;
        if (best.leader && rank(i) < best_rank) continue;
        best = peers_[i].view;
        best_rank = rank(i);
    }
    return best;
}

LeaderView Core::second_hand(Instant now) const {
    LeaderView best;
    if (textbook()) return best;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_ || !heard(i, now)) continue;
        const LeaderView& view = peers_[i].view;
        if (!view.leader || view.leader == config_.self || due(now, view.until)) continue;
        if (known_gone(view.leader, view.epoch, now)) continue;
        if (!best.leader || view.epoch > best.epoch ||
            (view.epoch == best.epoch && view.announced && !best.announced))
            best = view;
    }
    return best;
}

bool Core::leader_known(Instant now) const {
    return static_cast<bool>(first_hand(now).leader) || static_cast<bool>(second_hand(now).leader);
}

void Core::adopt_view(Step& step, Index from, LeaderView view) {
    if (view.leader == config_.self || known_gone(view.leader, view.epoch, step.now)) return;
    view.until = earlier(view.until, step.now + longest_promise());
    peers_[from].view = view;
}

bool Core::known_gone(NodeId holder, Epoch epoch, Instant now) const {
    const auto i = config_.members.index(holder);
    if (!i) return true;
    return epoch <= peers_[*i].gone_epoch && !due(now, peers_[*i].gone_until);
}

bool Core::gone_just_now(NodeId holder, Instant now) const {
    const auto i = config_.members.index(holder);
    return i && !due(now, peers_[*i].gone_at + timing().campaign_wait);
}

void Core::on_heartbeat(Step& step, const AcceptedSession& from, const Heartbeat& heartbeat) {
    Peer& peer = peers_[from.peer];
    // Late bytes of an older session would bring back what its end has cleared.
    if (peer.accepted != from.id) return;
    learn_epoch(step.now, heartbeat.max_seen);
    const bool believed = learn_epoch(step.now, heartbeat.leader_epoch);
    peer.has_heartbeat = true;
    peer.heartbeat = heartbeat;
    peer.heartbeat_at = step.now;
    peer.view = {};
    if (heartbeat.leader && heartbeat.leader_remaining.ns > 0 && believed)
        adopt_view(step, from.peer,
                   {heartbeat.leader, heartbeat.leader_epoch, step.now + heartbeat.leader_remaining,
                    heartbeat.leader_announced});
}

}  // namespace bullring::protocol
