// Failure detection (PROTOCOL §6): who is heard, who is connected both ways, who of them may lead,
// and what they say of a leader.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "protocol/peers/peer.hpp"
#include "protocol/values/setup.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

/// The other members as this one knows them, by index; the entry at its own index stays empty.
class Peers {
public:
    explicit Peers(const Setup& setup) : setup_(setup), peers_(setup.members().places()) {}

    Peer& operator[](Index i) { return peers_[i]; }
    const Peer& operator[](Index i) const { return peers_[i]; }
    Rank rank(Index i) const;
    /// `setup` has others: what was known of somebody else in their slots is forgotten.
    void follow(const Setup& setup, Instant now);

    /// How long a peer may be silent before it is suspected: T_s, or three of its heartbeats to
    /// this node.
    Duration silence_allowed(Index i) const;
    /// There are so many like it that the two of them send each other fewer heartbeats (§6).
    bool is_distant(Index i) const;
    /// After how many periods it and this node send each other a heartbeat, or more often.
    std::int64_t periods_between(Index i) const;
    /// The leader that this node grants renewals to, from now on.
    void trust(std::optional<Index> leader, Epoch epoch) {
        voucher_ = leader;
        voucher_epoch_ = epoch;
    }
    std::optional<Index> voucher() const { return voucher_; }
    /// The leader hears that peer, and the peer follows it: it is heard by the leader each h, and
    /// so it may send to this node less often, and be silent for longer.
    bool vouched_for(Index i, Instant now) const;
    /// All that are heard, but the leader.
    bool all_vouched_for(Instant now) const;
    bool heard(Index i, Instant now) const;
    MemberSet heard(Instant now) const;
    bool connected(Index i, Instant now) const;
    MemberSet connected(Instant now) const;
    /// Connected, eligible, of higher rank.
    MemberSet connected_higher(Instant now) const;
    /// A connected peer says that it may stand and has a majority.
    bool another_may_lead(Instant now) const;

    /// Somebody's word of a leader, to be believed until the next heartbeat of `from`.
    void adopt_view(Instant now, Index from, LeaderView view);
    /// The best word of a leader from peers that know it first-hand; never relayed.
    LeaderView second_hand(Instant now) const;
    void on_heartbeat(Instant now, Index from, const Heartbeat& heartbeat, bool believed);

    /// Its end was seen, or its resignation: what peers say of its epochs up to `epoch` is old.
    void note_gone(Index i, Epoch epoch, Instant now);
    bool known_gone(NodeId holder, Epoch epoch, Instant now) const;
    bool gone_just_now(NodeId holder, Instant now) const;
    /// That run has ended, and was promised something not longer ago than a promise lasts.
    void bury(Index i, Incarnation incarnation, Instant now);
    bool is_buried(HolderKey key, Instant now) const;
    /// The highest epoch that this very run has resigned; 0: none.
    Epoch resigned_epoch(HolderKey key) const;

    void collect_wakes(WakeTime& wake) const;
    bool operator==(const Peers&) const = default;
    auto digest_fields() const { return std::tie(peers_, voucher_, voucher_epoch_); }

private:
    /// Within T_s, which every peer is allowed: most answers end here.
    bool heard_lately(Index i, Instant now) const;
    /// By the times of this peer and this node alone.
    bool heard_itself(Index i, Instant now) const;
    Duration period_of(Index i) const;
    /// One of the two follows the other: renewals and what answers them keep their pace.
    bool leads_or_follows(Index i) const;
    Duration silence_allowed(Index i, Instant now) const;
    Duration longest_promise_to(Index i) const;

    Setup setup_;
    std::vector<Peer> peers_;
    std::optional<Index> voucher_;
    Epoch voucher_epoch_;
};

}  // namespace bullring::protocol
