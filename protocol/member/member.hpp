// One member among the others: its sessions, whom it hears, whether and when it may stand, how it
// steps down, and what it reports. How long a leadership holds is none of its business: that is
// what the two engines say that derive from it, Engine (by a majority of promises with leases) and
// Textbook (quorum none: by its own word). Selectors see it through MemberAccess.
//
// Functions stand in files by subject: handshake, judging (§3), standing (§7), step_down (R5, §9),
// report (what peers and users learn), why (what an operator reads).
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "protocol/lease/epoch_bound.hpp"
#include "protocol/member/election_timer.hpp"
#include "protocol/member/gate.hpp"
#include "protocol/member/peers.hpp"
#include "protocol/member/reported.hpp"
#include "protocol/member/session_table.hpp"
#include "protocol/member/step.hpp"
#include "protocol/member/tenure.hpp"
#include "protocol/values/events.hpp"
#include "protocol/values/rng.hpp"
#include "protocol/values/view.hpp"

namespace bullring::protocol {

/// A lease request as a voter sees it, whichever way it came.
struct LeaseRequest {
    HolderKey key;
    Epoch epoch;
    Duration lease;
    bool renew = false;
    SessionId session;  // to tie to; `no_session` when untied
    Tag tag{};          // of the list of members that the holder goes by
    std::optional<Membership> members = std::nullopt;  // that list, where it was sent
    std::optional<Identity> identity = std::nullopt;   // of its cluster, with that list
};

/// A request of this node, and to whom it goes.
struct AddressedRequest {
    Coordinator request;
    MemberSet to;
};

/// The word of a peer on its cluster.
struct Word {
    Membership list{};   // that holds for it
    Membership shown{};  // of who has none: the newest that it was shown
    ClusterId cluster_id{};
};

/// The answer of a voter (R2).
struct Vote {
    enum class Kind : std::uint8_t { granted, refused, after_disk };
    Kind kind = Kind::refused;
    NackReason reason = NackReason::stale;
    NodeId promise_holder;
    Epoch promised_epoch;
    Duration remaining{0};
    std::optional<Membership> members = std::nullopt;  // stale_members: the voter's list
    std::optional<Identity> identity = std::nullopt;   // of its cluster, with that list
};

class Member {
public:
    virtual ~Member() = default;

    // ---- Facts.
    const Setup& setup() const { return setup_; }
    const Config& config() const { return setup_.config(); }
    const Timing& timing() const { return setup_.timing(); }
    Index me() const { return setup_.me(); }
    std::size_t size() const { return setup_.size(); }
    NodeId id(Index i) const { return setup_.id(i); }
    HolderKey own_key() const { return setup_.own_key(); }
    Rank own_rank() const { return setup_.own_rank(); }
    const Peers& peers() const { return peers_; }
    const SessionTable& sessions() const { return sessions_; }
    Rng& rng() { return rng_; }
    /// Leaderships are leases that a majority has granted, and epochs only rise. False with quorum
    /// none: a leader is who says so.
    bool fenced() const { return config().quorum != QuorumMode::none; }
    /// The list of members that holds for this node. Empty: it has none yet (C8).
    virtual const Membership& list() const { return config().members; }
    /// Or that is to: on its way to the disk, or in its requests.
    virtual const Membership& newest_list() const { return list(); }
    /// C11. 0: it is not known yet, or nobody speaks of it.
    virtual Identity identity() const { return {}; }
    /// The id by which its cluster is told from others.
    ClusterId cluster_id() const { return identity().known(); }
    /// So many are enough for a leader, by the list that decides for this node now.
    virtual bool is_majority(MemberSet members) const = 0;
    /// It is in no list any more, as far as it knows (C7.1).
    bool removed() const { return !list().empty() && list().find(setup_.self()) == nullptr; }

    // ---- Who leads.
    Role role() const { return tenure_.role(); }
    Epoch epoch() const { return tenure_.epoch(); }
    Epoch max_seen() const { return max_seen_; }
    /// Somebody says this epoch. True: it is believed, and max_seen is not below it now (R9).
    bool learn_epoch(Instant now, Epoch epoch);
    /// Its own leadership, or another's that it has promised to, or that its holder has reported.
    virtual LeaderView first_hand(Instant now) const = 0;
    /// The leader according to peers that know it first-hand.
    virtual LeaderView second_hand(Instant /*now*/) const { return {}; }
    bool leader_known(Instant now) const;
    /// How long a node to which this leader is reported may believe it.
    virtual Duration view_left(Instant now, const LeaderView& view) const = 0;
    /// That peer has answered that somebody leads.
    virtual void adopt_view(Step& step, Index from, const LeaderView& view) {
        peers_.adopt_view(step.now, from, view);
    }
    /// The end of its own leadership, as far as it is known now; long_ago without one.
    virtual Instant lease_end() const = 0;
    bool own_lease_valid(Instant now) const;
    /// Until when its leadership holds whatever becomes of its sessions; long_ago without one.
    virtual Instant untied_until() const { return long_ago; }

    // ---- Standing (§7).
    bool quorum_connected(Instant now) const;
    /// And so many of those do not say that they are silent that their votes would be a majority.
    bool majority_votes(Instant now) const;
    bool eligible(Instant now) const;
    /// R6: grants nothing, not even to itself, and does not stand.
    virtual bool silent(Instant /*now*/) const { return false; }
    /// A promise of its own binds it, to another or to itself.
    virtual bool bound(Instant /*now*/) const { return false; }
    /// R1's conditions.
    bool may_campaign(Instant now) const;
    /// And §7's: no leader known, quorum-connected, not waiting after an attempt.
    bool may_start(Instant now) const;
    /// True when the selector has to campaign now, whatever it was doing: a RESIGN has named this
    /// node, an epoch was refused as too low, or the epoch that it wanted is durable now.
    bool answer_call(Step& step);
    bool called() const { return election_timer_.call() != Call::none; }
    void retry_not_before(Instant at) { election_timer_.retry_not_before(at); }
    bool retry_due(Instant now) const { return election_timer_.retry_due(now); }
    void say_election_started(Step& step, const char* reason);
    /// R1. The request to be carried to the voters. nullopt: it cannot be now; if only the disk has
    /// to be waited for, a call follows.
    virtual std::optional<AddressedRequest> campaign(Step& step) = 0;
    /// Ends a candidacy; nothing otherwise.
    virtual void abandon(Step& /*step*/, Duration /*wait_at_least*/) {}
    /// A renewal is due: the request to be carried to the voters, and at times to all.
    virtual std::optional<AddressedRequest> renew_if_due(Step& /*step*/) { return std::nullopt; }

    // ---- Requests and their answers, whichever way they come.
    /// nullopt: it wants no answer.
    virtual std::optional<Vote> on_request(Step& step, const LeaseRequest& request) = 0;
    virtual void on_grant(Step& /*step*/, Index /*voter*/, const Grant& /*grant*/) {}
    virtual void on_nack(Step& /*step*/, Index /*voter*/, const Nack& /*nack*/) {}

    // ---- Sending.
    bool can_send(Index to) const { return setup_.others().contains(to) && peers_[to].dialled; }
    bool can_send_to_all(MemberSet members) const;
    template <class M>
    void send(Step& step, Index to, const M& message) const {
        if (!can_send(to)) return;
        if constexpr (std::is_same_v<M, Coordinator>)
            step.act(Send{peers_[to].dialled, as_sent_to(to, message)});
        else
            step.act(Send{peers_[to].dialled, message});
    }
    template <class M>
    void broadcast(Step& step, const M& message) const {
        for (const Index i : setup_.others()) send(step, i, message);
    }

    // ---- Events, called by Node.
    virtual void check_lapse(Step& /*step*/) {}
    void on_dialled(Step& step, const Dialled& event);
    void on_hello(Step& step, const HelloReceived& event);
    void on_hello_ack(Step& step, SessionId session, const HelloAck& ack);
    void on_refused(Step& step, SessionId session, const Refused& refused);
    void on_session_ended(Step& step, const SessionEnded& event);
    void on_died(Step& step, const Died& event);
    /// The peer and run behind an accepted session, and that it was heard; nullopt: not (any more)
    /// a session from which messages are taken.
    std::optional<AcceptedSession> sender_of(Step& step, SessionId session);
    void on_heartbeat(Step& step, const AcceptedSession& from, const Heartbeat& heartbeat);
    virtual void on_coordinator(Step& step, const AcceptedSession& from,
                                const Coordinator& request) = 0;
    void on_resign(Step& step, const AcceptedSession& from, const Resign& resign);
    virtual void on_persisted(Step& /*step*/, const Persisted& /*event*/) {}
    void on_task_ended(Step& step, const TaskEnded& event);
    void on_stalled(Step& step);
    void on_resign_requested(Step& step, const ResignRequested& event);
    /// C2
    virtual void on_members_requested(Step& step, const MembersRequested& event);
    void on_health_changed(Step& step, const HealthChanged& event);
    void on_standing(Step& step, const Standing& event);
    virtual void on_tying(Step& /*step*/, const Tying& /*event*/) {}
    void on_stop(Step& step);
    /// Timers and conditions, before the selector's.
    void advance(Step& step);
    /// Reports what has changed: peers, leader, heartbeats, answers. After the selector.
    void report(Step& step);
    virtual void collect_wakes(WakeTime& wake) const;
    View view(Instant now, const HostReasons& reasons) const;
    virtual void check_invariants(Instant /*now*/) const {}

    /// Of the shared part only: nodes are compared as Nodes.
    bool operator==(const Member&) const = default;
    auto digest_fields() const {
        return std::tie(setup_, peers_, sessions_, gate_, election_timer_, tenure_,
                        heartbeat_clock_, reported_, max_seen_, epoch_bound_, rng_, quorum_since_,
                        stopped_);
    }

protected:
    Member(const Config& config, const Start& start);
    Member(const Member&) = default;
    Member(Member&&) = default;
    Member& operator=(const Member&) = default;
    Member& operator=(Member&&) = default;

    /// The one door (C12.1) for what somebody says who has been judged to be of this cluster, by
    /// his HELLO here, or by this node's HELLO there.
    void believe(Step& step, const Word& word);
    /// Our own close, which releases nothing (R4.2); what is still to come on it is not read.
    void close_accepted(Step& step, const AcceptedSession& session,
                        SessionEnd as = SessionEnd::overflow);
    /// From now on this node deals with these.
    void deal_with(Step& step, const Membership& members);
    /// Being stopped, and a follower: it grants nothing, so its last write can be exact (R7).
    bool leaving() const { return gate_.stopping() && tenure_.follows(); }
    void become_leader(Step& step);
    void become_follower(Step& step);
    void publish(Step& step);
    void step_down(Step& step, DeposedReason reason, NodeId successor);
    void finish_step_down(Step& step);
    /// Why a member could not take over now; the first three no waiting changes.
    enum class Unfit : std::uint8_t {
        stranger,
        leader_itself,
        never_leads,
        not_connected,
        silent,
        not_standing,
        no_majority,
    };
    /// nullopt: that member could take over.
    std::optional<Unfit> unfit(NodeId to, Instant now) const;
    NodeId best_successor(Instant now) const;
    /// This node's own state, as it reports it now.
    Heartbeat heartbeat(Instant now) const;
    /// A renewal with its heartbeat goes to all; or a grant with one to its leader.
    void heartbeat_told_by_renewal(Instant now) {
        heartbeat_clock_.told_all(now, heartbeat_state(now), timing());
    }
    void heartbeat_told_by_grant(Instant now) {
        const Duration pace = votes() ? timing().heartbeat : timing().followers_pace();
        heartbeat_clock_.told_leader(now, pace + timing().heartbeat / 2);
    }
    /// By the list by which it deals with others.
    bool votes() const { return setup_.members().voters().contains(me()); }
    /// Another leads: nothing to stand back for, and no call to answer.
    void note_other_leads();
    /// How many of higher rank are connected and may stand: each is left a stagger.
    std::int64_t higher_connected(Instant now) const {
        return static_cast<std::int64_t>(peers_.connected_higher(now).size());
    }
    /// Of the messages that are exchanged with that peer; 0: none are.
    std::uint16_t version_with(Index i) const;
    static std::string time_text(Duration left);
    std::string ids_text(MemberSet members) const;

    Setup setup_;
    Peers peers_;
    SessionTable sessions_;
    Gate gate_;
    ElectionTimer election_timer_;
    Tenure tenure_;
    HeartbeatClock heartbeat_clock_;
    ReportedLeader reported_;
    Epoch max_seen_;
    EpochBound epoch_bound_;
    Rng rng_;
    Instant quorum_since_ = never;
    bool stopped_ = false;

private:
    // ---- What the engines add.
    /// Their own timers and conditions, before the shared ones.
    virtual void advance_engine(Step& step) = 0;
    /// After all that this step reports to others: what the step has freed, and what has to be
    /// durable.
    virtual void settle(Step& /*step*/) {}
    /// Nothing is left to be written before the process may end.
    virtual bool all_written() const { return true; }
    /// The epoch that a candidacy would have now needs no write.
    virtual bool next_epoch_durable() const { return true; }
    /// Of those that could lead all have been heard, or were waited for long enough.
    virtual bool others_awaited(Instant now) const = 0;
    /// So many refuse a lease as long as its own that no majority is left to grant it.
    virtual bool lease_refused(Instant /*now*/) const { return false; }
    virtual MemberSet grants(Instant now) const = 0;
    /// It is a follower again, and `given_up` binds nobody here any more.
    virtual void on_follower(Epoch /*given_up*/) {}
    /// A candidacy or leadership of that run is over. True: this node's promise was to it.
    virtual bool on_resigned(const AcceptedSession& /*from*/, Epoch /*epoch*/) { return false; }
    /// Of which leader its heartbeats speak.
    virtual LeaderView told_to_peers(Instant now) const { return first_hand(now); }

    /// HELLOs from now on count as asked after the silence (R6).
    virtual bool asks_again() const { return false; }
    /// A member says what it knows of the cluster. Called by believe() alone.
    virtual void on_word(Step& /*step*/, const Word& /*word*/) {}
    /// All that is kept for each member follows setup_.
    virtual void on_members_changed() {}
    virtual void on_forgotten(const Peer& /*peer*/) {}
    /// Adds what HELLO says of the state file.
    virtual void fill_hello(Hello& /*hello*/) const {}
    /// Adds what HELLO_ACK says of promises, and keeps to it from now on (R3).
    virtual void answer_hello(Instant /*now*/, const Hello& /*hello*/, HelloAck& /*ack*/) {}
    /// A run of that peer has said HELLO, or has answered one: it may ask for a lease as long as it
    /// says (R7), and its directory is known from now on (C13.1), if it has done both.
    virtual void note_run_of(Step& /*step*/, Index /*i*/) {}
    /// C13.1: whether the peer is dialled where it says that it is, too.
    virtual bool may_be_dialled_where_it_calls(Index /*i*/) const { return false; }
    /// That peer has taken this node's session.
    virtual void on_ack(Step& /*step*/, Index /*i*/, const HelloAck& /*ack*/) {}
    /// Says again what was broadcast before, to one that has not been asked or could not answer.
    virtual void greet(Step& step, Index i) = 0;
    /// R4: an end may release a promise.
    virtual void on_accepted_ended(Step& /*step*/, const AcceptedSession& /*session*/,
                                   SessionEnd /*how*/) {}
    /// R4: that run has ended; what it was promised is over.
    virtual void on_buried(Step& /*step*/, HolderKey /*key*/) {}
    /// A grant that counts is tied to it; its FIN would release it.
    virtual bool keeps_open(SessionId /*dialled*/, Instant /*now*/) const { return false; }
    /// A peer hears another process that has this node's id.
    virtual void told_of_twin(Step& /*step*/, Peer& /*by*/) {}

    /// The engine's part of what an operator reads. Empty: nothing.
    virtual void fill_view(View& /*view*/, Instant /*now*/) const {}
    virtual std::string why_leading(Instant now) const = 0;
    virtual std::string why_silent(Instant /*now*/) const { return {}; }
    virtual std::string why_bound(Instant /*now*/) const { return {}; }

    // judging.cpp
    std::optional<Refused> cluster_difference(const Hello& hello) const;
    std::optional<Refused> seat_difference(const HelloReceived& event, Instant now) const;
    void refuse(Step& step, const HelloReceived& event, Refused refused);

    // handshake.cpp
    void give_up_dialled(Step& step, DialledSession& session, SessionEnd how);
    void close_lingering(Step& step);
    void end_accepted(Step& step, const AcceptedSession& session, SessionEnd how);
    void note_end(Instant now, Index i, PeerDownReason told);
    void listen_to(const AcceptedSession& session);
    /// Whether what comes on this session shows that its run is there (§3).
    bool is_heard_on(const AcceptedSession& session, Instant now) const;

    // step_down.cpp
    static std::string text(Unfit unfit, NodeId of);
    void forget_hold_off(Instant now);

    // member.cpp
    void note_voucher(Instant now);
    /// C1.1: without the list, if that peer has it.
    Coordinator as_sent_to(Index to, const Coordinator& request) const;
    void forget(Step& step, Index i);

    // report.cpp
    HeartbeatState heartbeat_state(Instant now) const;
    Duration reported_quorum_age(Instant now) const;
    void report_peers(Step& step);
    void report_version(Step& step, Index i);
    PeerDownReason down_reason(Index i, Instant now) const;
    LeaderView user_leader(Instant now) const;
    std::string advertised_by(NodeId leader) const;
    void report_leader(Step& step);
    bool has_ended(NodeId node) const;
    void note_signs_of(const LeaderView& leader, Instant now);
    /// The last sign of life of the leader that was reported.
    Instant led_until(Instant now) const;
    void send_heartbeats(Step& step);
    Duration change_told_within() const;
    MemberSet told_of_change(bool stands_anew) const;
    MemberSet told_in_time(Instant now);
    bool distant_due(Instant now, Index i);
    void tell_heartbeat(Step& step, MemberSet to) const;
    void report_stop(Step& step);

    // why.cpp
    std::string why(Instant now, const HostReasons& reasons, const std::string& hindered) const;
    std::string why_hindered(Instant now, const HostReasons& reasons) const;
};

}  // namespace bullring::protocol
