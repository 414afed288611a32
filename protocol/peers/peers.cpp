#include "protocol/peers/peers.hpp"

#include <algorithm>

namespace bullring::protocol {

Rank Peers::rank(Index i) const {
    return i == setup_.me() ? setup_.own_rank()
                            : Rank{peers_[i].introduction.priority, setup_.id(i)};
}

void Peers::follow(const Setup& setup, Instant now) {
    const Membership before = setup_.members();
    setup_ = setup;
    const Membership& after = setup_.members();
    peers_.resize(after.places());
    for (Index i = 0; i < after.places(); ++i) {
        if (after.id(i) == before.id(i)) continue;
        peers_[i] = Peer{};
        peers_[i].met_at = now;
    }
    if (voucher_ && after.id(*voucher_) != before.id(*voucher_)) voucher_.reset();
}

Duration Peers::period_of(Index i) const {
    // A leader's h is at most L/5 and its L at most this node's lease-max. A longer h is a mistake
    // or a lie, and would have its sender believed to be there long after it has gone.
    return std::clamp(peers_[i].introduction.heartbeat_period, Duration{0},
                      setup_.timing().lease_max / 5);
}

// P1.1
Duration Peers::silence_allowed(Index i) const {
    return std::max(setup_.timing().suspect_after, period_of(i) * periods_between(i) * 3);
}

// P2.1
bool Peers::leads_or_follows(Index i) const {
    const Heartbeat& last = peers_[i].heartbeat;
    return voucher_ == i ||
           (peers_[i].has_heartbeat && last.leader_announced && last.leader == setup_.self());
}

std::int64_t Peers::periods_between(Index i) const {
    const MemberSet voters = setup_.members().voters();
    const bool votes = voters.contains(setup_.me());
    const bool its_votes = voters.contains(i);
    const std::int64_t of_few = votes && (its_votes || voucher_ == i) ? 1 : 2;
    if (!is_distant(i)) return of_few;
    if (votes || its_votes) return std::max(of_few, Timing::periods_of_voters(voters.size()));
    return Timing::periods_without_votes(setup_.size() - voters.size());
}

bool Peers::is_distant(Index i) const {
    if (setup_.config().quorum == QuorumMode::none || leads_or_follows(i)) return false;
    const MemberSet voters = setup_.members().voters();
    const bool either_votes = voters.contains(setup_.me()) || voters.contains(i);
    return !either_votes || Timing::periods_of_voters(voters.size()) > 1;
}

Duration Peers::silence_allowed(Index i, Instant now) const {
    const Duration by_itself = silence_allowed(i);
    return vouched_for(i, now) ? std::max(by_itself, period_of(i) * 6) : by_itself;
}

bool Peers::heard_itself(Index i, Instant now) const {
    return heard_lately(i, now) ||
           (peers_[i].accepted && !due(now, peers_[i].heard_at + silence_allowed(i)));
}

bool Peers::heard_lately(Index i, Instant now) const {
    return peers_[i].accepted && !due(now, peers_[i].heard_at + setup_.timing().suspect_after);
}

// P1.2
bool Peers::vouched_for(Index i, Instant now) const {
    if (!voucher_ || *voucher_ == i || !heard_itself(*voucher_, now)) return false;
    const Peer& leader = peers_[*voucher_];
    const Peer& peer = peers_[i];
    return leader.has_heartbeat && leader.heartbeat.heard.contains(i) && peer.has_heartbeat &&
           peer.heartbeat.leader_announced && peer.heartbeat.leader == setup_.id(*voucher_) &&
           peer.heartbeat.leader_epoch == voucher_epoch_;
}

bool Peers::all_vouched_for(Instant now) const {
    if (!voucher_) return false;
    for (const Index i : heard(now))
        if (i != *voucher_ && !is_distant(i) && !vouched_for(i, now)) return false;
    return true;
}

bool Peers::heard(Index i, Instant now) const {
    // A walk may name slots that are free here.
    if (!setup_.members().all().contains(i)) return false;
    return heard_lately(i, now) ||
           (peers_[i].accepted && !due(now, peers_[i].heard_at + silence_allowed(i, now)));
}

MemberSet Peers::heard(Instant now) const {
    MemberSet members;
    for (const Index i : setup_.others())
        if (heard(i, now)) members.insert(i);
    return members;
}

bool Peers::connected(Index i, Instant now) const {
    if (i == setup_.me() || !heard(i, now)) return false;
    const Peer& peer = peers_[i];
    return peer.has_heartbeat && peer.heartbeat.heard.contains(setup_.me()) && !peer.refused;
}

MemberSet Peers::connected(Instant now) const {
    MemberSet members;
    for (const Index i : setup_.others())
        if (connected(i, now)) members.insert(i);
    return members;
}

MemberSet Peers::connected_higher(Instant now) const {
    MemberSet members;
    for (const Index i : setup_.others()) {
        if (!connected(i, now) || rank(i) < setup_.own_rank()) continue;
        if (peers_[i].introduction.priority.is_never()) continue;
        if (peers_[i].heartbeat.eligible) members.insert(i);
    }
    return members;
}

bool Peers::another_may_lead(Instant now) const {
    for (const Index i : connected(now)) {
        const Peer& peer = peers_[i];
        if (!peer.introduction.priority.is_never() && peer.heartbeat.eligible &&
            peer.heartbeat.quorum_connected)
            return true;
    }
    return false;
}

void Peers::adopt_view(Instant now, Index from, LeaderView view) {
    if (view.leader == setup_.self() || known_gone(view.leader, view.epoch, now)) return;
    view.until = earlier(view.until, now + setup_.longest_promise());
    peers_[from].view = view;
}

LeaderView Peers::second_hand(Instant now) const {
    LeaderView best;
    for (const Index i : heard(now)) {
        const LeaderView& view = peers_[i].view;
        if (!view.leader || view.leader == setup_.self() || due(now, view.until)) continue;
        if (known_gone(view.leader, view.epoch, now)) continue;
        if (!best.leader || view.epoch > best.epoch ||
            (view.epoch == best.epoch && view.announced && !best.announced))
            best = view;
    }
    return best;
}

void Peers::on_heartbeat(Instant now, Index from, const Heartbeat& heartbeat, bool believed) {
    Peer& peer = peers_[from];
    peer.has_heartbeat = true;
    peer.heartbeat = heartbeat;
    peer.heartbeat_at = now;
    peer.view = {};
    if (heartbeat.leader && heartbeat.leader_remaining.ns > 0 && believed)
        adopt_view(now, from,
                   {heartbeat.leader, heartbeat.leader_epoch, now + heartbeat.leader_remaining,
                    heartbeat.leader_announced});
}

void Peers::note_gone(Index i, Epoch epoch, Instant now) {
    Peer& peer = peers_[i];
    peer.gone_epoch = epoch;
    peer.gone_at = now;
    peer.gone_until = now + longest_promise_to(i);
}

Duration Peers::longest_promise_to(Index i) const {
    const Timing& timing = setup_.timing();
    return timing.promise(
        std::min(std::max(peers_[i].introduction.lease, timing.lease), timing.lease_max));
}

bool Peers::known_gone(NodeId holder, Epoch epoch, Instant now) const {
    const auto i = setup_.members().index(holder);
    if (!i) return true;
    return epoch <= peers_[*i].gone_epoch && !due(now, peers_[*i].gone_until);
}

bool Peers::gone_just_now(NodeId holder, Instant now) const {
    const auto i = setup_.members().index(holder);
    return i && !due(now, peers_[*i].gone_at + setup_.timing().campaign_wait);
}

// N3.5
void Peers::bury(Index i, Incarnation incarnation, Instant now) {
    peers_[i].buried = incarnation;
    peers_[i].buried_until = now + setup_.longest_promise();
}

bool Peers::is_buried(HolderKey key, Instant now) const {
    const auto i = setup_.members().index(key.id);
    return i && peers_[*i].buried == key.incarnation && !promise_over(now, peers_[*i].buried_until);
}

Epoch Peers::resigned_epoch(HolderKey key) const {
    const auto from = setup_.members().index(key.id);
    if (!from || peers_[*from].resigned_by != key.incarnation) return {};
    return peers_[*from].resigned_epoch;
}

void Peers::collect_wakes(WakeTime& wake) const {
    for (const Index i : setup_.others()) {
        if (peers_[i].accepted) wake.timer(peers_[i].heard_at + silence_allowed(i, wake.now()));
        wake.timer(peers_[i].view.until);
        wake.promise(peers_[i].twin_over);
    }
}

}  // namespace bullring::protocol
