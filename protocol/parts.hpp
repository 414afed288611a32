// All that a node is: the state of its parts, and the plain facts that follow from it. Each part
// has a folder with its state and the rules that change it; a rule is a function that is handed the
// parts, and may call what stands below it (README.md has the order). Whether a promise may be
// given and whether a lease holds is decided in lease/ alone.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "protocol/lease/epoch_bound.hpp"
#include "protocol/lease/holder.hpp"
#include "protocol/lease/voter.hpp"
#include "protocol/membership/identity_poll.hpp"
#include "protocol/membership/list_changes.hpp"
#include "protocol/peers/heartbeat_clock.hpp"
#include "protocol/peers/peers.hpp"
#include "protocol/recovery/recovery.hpp"
#include "protocol/recovery/reserve.hpp"
#include "protocol/report/reported_leader.hpp"
#include "protocol/sessions/session_table.hpp"
#include "protocol/tenure/election_timer.hpp"
#include "protocol/tenure/gate.hpp"
#include "protocol/tenure/tenure.hpp"
#include "protocol/values/events.hpp"
#include "protocol/values/rng.hpp"
#include "protocol/values/setup.hpp"
#include "protocol/values/step.hpp"

namespace bullring::protocol {

/// A value: copies share nothing but what never changes. Not thread-safe.
struct Parts {
    Parts(const Config& config, const Start& start);

    Setup setup;
    Peers peers;
    SessionTable sessions;
    Gate gate;
    ElectionTimer election_timer;
    Tenure tenure;
    HeartbeatClock heartbeat_clock;
    ReportedLeader reported;
    Epoch max_seen;
    EpochBound epoch_bound;
    Rng rng;
    Instant quorum_since = never;
    bool stopped = false;
    // ---- Of leaderships that are leases of a majority; idle with quorum none.
    Voter voter;
    Holder holder;
    Recovery recovery;
    Reserve reserve;
    ListChanges changes;
    IdentityPoll poll;

    // ---- Itself.
    const Config& config() const { return setup.config(); }
    const Timing& timing() const { return setup.timing(); }
    Index me() const { return setup.me(); }
    std::size_t size() const { return setup.size(); }
    NodeId id(Index i) const { return setup.id(i); }
    /// "1, 2, 3"
    std::string ids_text(MemberSet members) const;
    HolderKey own_key() const { return setup.own_key(); }
    Rank own_rank() const { return setup.own_rank(); }
    /// Leaderships are leases that a majority has granted, and epochs only rise. False with quorum
    /// none: a leader is who says so (§10).
    bool fenced() const { return config().quorum != QuorumMode::none; }
    /// R6: it does not vote yet.
    bool recovering() const { return fenced() && !recovery.over(); }
    /// Being stopped, and a follower: it grants nothing, so its last write can be exact (R7).
    bool leaving() const { return gate.stopping() && tenure.follows(); }

    // ---- Its leadership.
    Role role() const { return tenure.role(); }
    Epoch epoch() const { return tenure.epoch(); }
    /// The end of its own leadership, as far as it is known now; long_ago without one.
    Instant lease_end() const;
    bool own_lease_valid(Instant now) const;
    /// Those whose votes it holds.
    MemberSet grants(Instant now) const;
    /// Somebody says this epoch. True: it is believed, and max_seen is not below it now (R9).
    bool learn_epoch(Instant now, Epoch said);

    // ---- The lists of members that it knows, and the id of its cluster.
    /// The list that holds for this node. Empty: it has none yet (C8).
    const Membership& list() const;
    /// Or that is to: on its way to the disk, or in its requests.
    const Membership& newest_list() const;
    /// The list whose voters decide for this node: as a holder that of its leadership.
    const Membership& deciding() const;
    /// So many are enough for a leader, by that list.
    bool is_majority(MemberSet members) const;
    /// By the list by which it deals with others.
    bool votes() const { return setup.members().voters().contains(me()); }
    /// It is in no list any more, as far as it knows (C7.1).
    bool removed() const { return !list().empty() && list().find(setup.self()) == nullptr; }
    /// C11. 0: it is not known yet, or nobody speaks of it.
    Identity identity() const;
    /// The id by which its cluster is told from others.
    ClusterId cluster_id() const { return identity().known(); }

    // ---- The others.
    /// Of the messages that are exchanged with that peer; 0: none are.
    std::uint16_t version_with(Index i) const;
    /// The run that was heard last has also answered at the address where it was dialled.
    bool is_same_run(Index i) const {
        return peers[i].has_ack && peers[i].ack.incarnation == peers[i].incarnation;
    }

    bool operator==(const Parts&) const = default;
    auto digest_fields() const {
        return std::tie(setup, peers, sessions, gate, election_timer, tenure, heartbeat_clock,
                        reported, max_seen, epoch_bound, rng, quorum_since, stopped, voter, holder,
                        recovery, reserve, changes, poll);
    }
};

}  // namespace bullring::protocol
