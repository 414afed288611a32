// What Bully and Ring share: sessions, failure detection, the voter and the holder of the lease
// engine, step-down, handover, recovery, the durable reserve. The selectors decide who stands and
// how requests travel; whether a promise may be given and whether a lease holds is decided here
// alone.
//
// The parts live in files of their own: core_sessions (handshake, close rule), core_peers (§6),
// core_voter (R2, R4), core_holder (R1, R3), core_roles (the only writer of role and epoch),
// core_step_down (R5, §9), core_recovery (R6, R7), core_report (what users see).
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "protocol/actions.hpp"
#include "protocol/config.hpp"
#include "protocol/core_parts.hpp"
#include "protocol/epoch_bound.hpp"
#include "protocol/events.hpp"
#include "protocol/lease.hpp"
#include "protocol/peer.hpp"
#include "protocol/promise.hpp"
#include "protocol/rng.hpp"
#include "protocol/session_table.hpp"
#include "protocol/view.hpp"
#include "protocol/wake_time.hpp"

namespace bullring::protocol {

/// One call of Node::step: the instant, and where the actions go.
struct Step {
    Instant now;
    std::vector<Action>& out;

    template <class A>
    void act(A&& action) {
        out.emplace_back(std::forward<A>(action));
    }
};

/// The answer of a voter (R2).
struct Vote {
    enum class Kind : std::uint8_t { granted, refused, after_disk };
    Kind kind = Kind::refused;
    NackReason reason = NackReason::stale;
    NodeId promise_holder;
    Epoch promised_epoch;
    Duration remaining{0};
};

/// A lease request as the voter sees it, whichever way it came.
struct LeaseRequest {
    HolderKey key;
    Epoch epoch;
    Duration lease;
    bool renew = false;
    SessionId session;  // to tie to; `no_session` when untied
};

class Core {
public:
    Core(const Config& config, const Start& start);

    // ---- Facts.
    const Config& config() const { return config_; }
    const Timing& timing() const { return config_.timing; }
    Index me() const { return me_; }
    std::size_t size() const { return config_.members.size(); }
    std::size_t majority() const;
    /// P(lease-max): nothing binds anybody for longer.
    Duration longest_promise() const { return timing().promise(timing().lease_max); }
    HolderKey own_key() const { return {config_.self, incarnation_}; }
    NodeId id(Index i) const { return config_.members.id(i); }
    Rank rank(Index i) const;
    Rank own_rank() const { return {config_.priority, config_.self}; }
    const Peer& peer(Index i) const { return peers_[i]; }
    const SessionTable& sessions() const { return sessions_; }
    bool textbook() const { return config_.quorum == QuorumMode::none; }
    Rng& rng() { return rng_; }

    // ---- Failure detection (§6).
    /// How long a peer may be silent before it is suspected: T_s, or three of its own heartbeats.
    Duration silence_allowed(Index i) const;
    bool heard(Index i, Instant now) const;
    bool connected(Index i, Instant now) const;
    MemberSet connected(Instant now) const;
    bool quorum_connected(Instant now) const;
    /// Connected, eligible, of higher rank.
    MemberSet connected_higher(Instant now) const;
    bool eligible(Instant now) const;
    /// A connected peer says that it may stand and has a majority.
    bool another_may_lead(Instant now) const;
    /// So many refuse a lease as long as the own one that no majority is left to grant it.
    bool lease_refused(Instant now) const;
    /// First-hand: the own lease, or an own promise that is live to another.
    LeaderView first_hand(Instant now) const;
    /// Second-hand: what peers say that know first-hand; never relayed.
    LeaderView second_hand(Instant now) const;
    bool leader_known(Instant now) const;
    void adopt_view(Step& step, Index from, LeaderView view);
    bool known_gone(NodeId holder, Epoch epoch, Instant now) const;
    bool gone_just_now(NodeId holder, Instant now) const;

    // ---- Standing.
    bool recovering() const { return recovering_; }
    /// Being stopped, and a follower: it grants nothing, so its last write can be exact (R7).
    bool leaving() const { return stopping_ && role_ == Role::follower; }
    /// Until when a process with the same id elsewhere may have votes that count, as peers tell.
    Instant twin_over() const;
    /// R6: grants nothing, not even to itself, and does not stand.
    bool silent(Instant now) const { return recovering_ || !promise_over(now, twin_over()); }
    bool promise_free(Instant now) const;
    const Promise& promise() const { return promise_; }
    /// R1's conditions.
    bool may_campaign(Instant now) const;
    /// R1's conditions and §7's: no leader known, quorum-connected, not waiting after an attempt.
    bool may_start(Instant now) const;
    /// Why to campaign without asking anybody: see answer_call.
    enum class Call : std::uint8_t { none, successor, higher_epoch, disk };
    /// True when the selector has to campaign now, whatever it was doing: a RESIGN has named this
    /// node, an epoch was refused as too low, or the epoch that it wanted is durable now.
    bool answer_call(Step& step);
    bool called() const { return call_ != Call::none; }
    /// R1. The request to be carried to the voters. nullopt: it cannot be now; if only the disk has
    /// to be waited for, a call follows.
    std::optional<Coordinator> campaign(Step& step);
    void abandon(Step& step, Duration wait_at_least);
    void retry_not_before(Instant at) { retry_at_ = later(retry_at_, at); }
    /// Its pause after a try that has failed is over.
    bool retry_due(Instant now) const { return due(now, retry_at_); }
    void say_election_started(Step& step, const char* reason);

    // ---- Holder (R3).
    Role role() const { return role_; }
    Epoch epoch() const { return lease_.epoch(); }
    Epoch max_seen() const { return max_seen_; }
    /// Somebody says this epoch. True: it is believed, and max_seen is not below it now (R9).
    bool learn_epoch(Instant now, Epoch epoch);
    bool own_lease_valid(Instant now) const;
    /// Whether voters are asked to tie what they grant to a session.
    bool ties() const { return config_.tie && config_.fast_release && !untied_; }
    /// Until when the lease holds whatever becomes of the sessions; long_ago without one.
    Instant untied_until() const { return lease_.untied_deadline(); }
    /// A renewal of all is due: the request to be carried to the voters.
    std::optional<Coordinator> renew_if_due(Step& step);
    void on_grant(Step& step, Index voter, const Grant& grant);
    void on_nack(Step& step, Index voter, const Nack& nack);

    // ---- Voter (R2).
    Vote vote(Step& step, const LeaseRequest& request);

    // ---- Sending.
    bool can_send(Index to) const;
    bool can_send_to_all(MemberSet members) const;
    template <class M>
    void send(Step& step, Index to, const M& message) const {
        if (can_send(to)) step.act(Send{peers_[to].dialled, message});
    }
    template <class M>
    void broadcast(Step& step, const M& message) const {
        for (Index i = 0; i < size(); ++i)
            if (i != me_) send(step, i, message);
    }

    // ---- Events, called by Node.
    void check_lapse(Step& step);
    void on_dialled(Step& step, const Dialled& event);
    void on_hello(Step& step, const HelloReceived& event);
    void on_hello_ack(Step& step, SessionId session, const HelloAck& ack);
    void on_refused(Step& step, SessionId session, const Refused& refused);
    void on_session_ended(Step& step, const SessionEnded& event);
    /// The peer and run behind an accepted session, and that it was heard; nullopt: not (any more)
    /// a session from which messages are taken.
    std::optional<AcceptedSession> sender_of(Step& step, SessionId session);
    void on_heartbeat(Step& step, const AcceptedSession& from, const Heartbeat& heartbeat);
    void on_coordinator(Step& step, const AcceptedSession& from, const Coordinator& request);
    /// Quorum none: that node says that it leads.
    void note_announcement(Instant now, Index leader, Epoch epoch);
    void on_resign(Step& step, const AcceptedSession& from, const Resign& resign);
    void on_persisted(Step& step, const Persisted& event);
    void on_task_ended(Step& step, const TaskEnded& event);
    void on_stalled(Step& step);
    void on_resign_requested(Step& step, const ResignRequested& event);
    void on_health_changed(Step& step, const HealthChanged& event);
    void on_standing(Step& step, const Standing& event);
    void on_tying(Step& step, const Tying& event);
    void on_stop(Step& step);
    /// Timers and conditions of the engine, before the selector's.
    void advance(Step& step);
    /// What changed is told: peers, leader, heartbeats, answers. After the selector.
    void report(Step& step);
    void collect_wakes(WakeTime& wake) const;
    View view(Instant now, const HostReasons& reasons) const;
    void check_invariants(Instant now) const;

    bool operator==(const Core&) const = default;
    /// All of the state but the configuration, which never changes.
    auto digest_fields() const {
        return std::tie(me_, incarnation_, started_, wall_clock_ms_, had_file_, file_promised_max_,
                        disk_, wanted_, writing_, persisting_, promised_since_start_, promise_,
                        park_, awaiting_disk_, reservation_, recovering_, floor_known_,
                        asked_again_at_, recovered_at_, role_, lease_, textbook_end_, max_seen_,
                        epoch_bound_, candidate_until_, next_renewal_, elected_at_, published_,
                        task_running_, refused_by_, refused_wait_, step_down_, call_, retry_at_,
                        start_at_, leader_was_known_, leader_ever_known_, stand_back_until_,
                        healthy_, healthy_from_, willing_, untied_, stopping_, stopped_,
                        quorum_since_, modest_until_, modest_for_, resign_request_, resigned_epoch_,
                        sessions_, peers_, rng_, next_heartbeat_, changed_heartbeat_at_,
                        told_state_, told_leader_, told_leader_epoch_, told_leader_since_);
    }

private:
    // core_sessions.cpp
    std::optional<Refused> hello_difference(const HelloReceived& event, Instant now) const;
    void refuse(Step& step, const HelloReceived& event, const Refused& refused);
    void give_up_dialled(Step& step, DialledSession& session, SessionEnd how);
    void close_lingering(Step& step);
    void end_accepted(Step& step, const AcceptedSession& session, SessionEnd how);
    void listen_to(const AcceptedSession& session);
    /// Whether what comes on this session shows that its run is there (§3).
    bool is_heard_on(const AcceptedSession& session, Instant now) const;
    /// The promise that a request of that peer will need; 0 of one that would be refused.
    Duration expected_promise(Index i) const;
    void expect_lease_of(Index i);

    // core_voter.cpp
    void answer(Step& step, const AcceptedSession& from, const Coordinator& request,
                const Vote& vote, bool parked);
    void serve_park(Step& step);
    void serve_awaiting_disk(Step& step);
    std::optional<Vote> refusal_outside_promise(Instant now, const LeaseRequest& request) const;
    bool reserved_for_other(Instant now, NodeId id) const;
    Epoch resigned_epoch_of(HolderKey key) const;

    // core_holder.cpp
    Instant lease_end() const { return lease_.deadline(); }
    bool counting() const { return role_ != Role::follower; }
    void grants_changed(Step& step);
    bool waits_for_disk() const;
    bool cannot_win_any_more() const;
    Duration wait_until_quorum_free(Instant now) const;
    Duration promise_length(Duration lease) const { return timing().promise(lease); }
    Duration longest_promise_to(Index i) const {
        return promise_length(
            std::min(std::max(peers_[i].introduction.lease, timing().lease), timing().lease_max));
    }

    // core_roles.cpp
    void become_candidate(Step& step, Epoch epoch);
    void become_leader(Step& step);
    void become_stepping_down(Step& step, DeposedReason reason, NodeId successor, bool renewing);
    void become_follower(Step& step);
    void publish(Step& step);

    // core_step_down.cpp
    void step_down(Step& step, DeposedReason reason, NodeId successor);
    void finish_step_down(Step& step);
    /// What no waiting changes, so that asking again is of no use; empty: it may lead one day.
    std::string why_never_successor(NodeId to, Instant now) const;
    NodeId best_successor(Instant now) const;
    std::string why_not_successor(NodeId to, Instant now) const;
    void consider_preemption(Step& step);
    void forget_hold_off(Instant now);
    Duration reported_quorum_age(Instant now) const;
    void follow_higher_leader(Step& step);  // quorum none

    // core_recovery.cpp
    void advance_recovery(Step& step);
    void told_of_twin(Step& step, Peer& by);
    void taken_after_twin(Peer& by, Instant now);
    struct Silence {
        bool known = false;
        Instant until;
    };
    struct Answers {  // HELLO_ACKs
        std::size_t all = 0;
        std::size_t with_file = 0;  // at their start
        Duration longest_promise{0};
        Duration longest_lease{0};
    };
    Answers answers(bool again) const;
    std::size_t enough_with_file() const;
    Silence silence(Instant now) const;
    void keep_for_recovery(Duration promised_max);
    void end_silence_without_file(Step& step);
    bool floor_from_clock(const Answers& heard) const;
    void find_floor(Step& step);
    void take_floor_from_clock(Step& step);
    void leave_recovery(Step& step);
    void keep_reserve(Step& step);
    void lower_promised_max(Instant now);
    void want_durable(Epoch hw, Duration promised_max);

    // core_report.cpp
    HeartbeatState heartbeat_state(Instant now) const;
    Heartbeat heartbeat(Instant now) const;
    void report_peers(Step& step);
    PeerDownReason down_reason(Index i, Instant now) const;
    void report_leader(Step& step);
    void report_resign(Step& step);
    void report_stop(Step& step);
    void send_heartbeats(Step& step);
    LeaderView user_leader(Instant now) const;
    std::string why(Instant now, const HostReasons& reasons) const;
    std::string why_hindered(Instant now, const HostReasons& reasons) const;

    // ---- Never change.
    Config config_;
    Index me_ = 0;
    Incarnation incarnation_;
    Instant started_;
    std::uint64_t wall_clock_ms_ = 0;
    bool had_file_ = false;
    Duration file_promised_max_{0};

    // ---- Durable (R7): what is on the disk, and what has been asked for.
    static constexpr std::uint64_t reserve_ahead = 1024;  // epochs beyond what is in use
    Durable disk_;
    Durable wanted_;
    Durable writing_;  // what is on its way to the disk while persisting_
    bool persisting_ = false;
    Duration promised_since_start_{0};  // the longest promise given in this run

    // ---- Voter.
    Promise promise_;
    std::optional<PendingRequest> park_;
    std::vector<PendingRequest> awaiting_disk_;  // at most one a peer
    Reservation reservation_;
    bool recovering_ = true;
    bool floor_known_ = false;        // the epochs that it may have granted are below vmax
    Instant asked_again_at_ = never;  // without a file: the end of its silence
    Instant recovered_at_ = never;

    // ---- Holder. role_ and lease_'s epoch are written by core_roles.cpp alone.
    Role role_ = Role::follower;
    Lease lease_;
    Instant textbook_end_ = long_ago;  // quorum none: no lease, so never or long_ago
    Epoch max_seen_;
    EpochBound epoch_bound_;
    Instant candidate_until_ = never;  // T_camp
    Instant next_renewal_ = never;
    Instant elected_at_ = never;
    bool published_ = false;
    bool task_running_ = false;
    MemberSet refused_by_;                // this candidacy's NACKs, by voter
    std::vector<Duration> refused_wait_;  // after which each may be free
    StepDown step_down_;

    // ---- Standing.
    Call call_ = Call::none;
    Instant retry_at_ = long_ago;
    Instant start_at_ = long_ago;  // δ stagger after the leader is gone
    bool leader_was_known_ = false;
    bool leader_ever_known_ = false;
    Instant stand_back_until_ = long_ago;
    bool healthy_ = true;
    Instant healthy_from_ = long_ago;  // after a failure: stands again from here
    bool willing_ = true;
    bool untied_ = false;  // by the host, for as long as it says so
    bool stopping_ = false;
    bool stopped_ = false;
    Instant quorum_since_ = never;
    Instant modest_until_ = long_ago;  // after a user's resign: quorum age is reported as 0
    Duration modest_for_{0};
    std::uint64_t resign_request_ = 0;  // to be answered when another leader is in place
    Epoch resigned_epoch_;

    // ---- Others.
    SessionTable sessions_;
    std::vector<Peer> peers_;
    Rng rng_;

    // ---- What was told last.
    Instant next_heartbeat_ = long_ago;
    Instant changed_heartbeat_at_ = never;
    HeartbeatState told_state_;
    NodeId told_leader_;
    Epoch told_leader_epoch_;
    Instant told_leader_since_ = never;
};

}  // namespace bullring::protocol
