// Failure detection (PROTOCOL §6): who is heard, who is connected both ways, who of them may lead,
// and what they say of a leader.
#pragma once

#include <tuple>
#include <vector>

#include "protocol/member/peer.hpp"
#include "protocol/member/setup.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

/// The other members as this one knows them, by index; the entry at its own index stays empty.
class Peers {
public:
    explicit Peers(const Setup& setup) : setup_(setup), peers_(setup.size()) {}

    Peer& operator[](Index i) { return peers_[i]; }
    const Peer& operator[](Index i) const { return peers_[i]; }
    Rank rank(Index i) const;

    /// How long a peer may be silent before it is suspected: T_s, or three of its own heartbeats.
    Duration silence_allowed(Index i) const;
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
    /// The highest epoch that this very run has resigned; 0: none.
    Epoch resigned_epoch(HolderKey key) const;

    void collect_wakes(WakeTime& wake) const;
    bool operator==(const Peers&) const = default;
    auto digest_fields() const { return std::tie(peers_); }

private:
    Duration longest_promise_to(Index i) const;

    Setup setup_;
    std::vector<Peer> peers_;
};

}  // namespace bullring::protocol
