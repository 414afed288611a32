// The last reports to users and peers, kept so that only changes are reported.
#pragma once

#include <string>
#include <tuple>

#include "protocol/member/peer.hpp"
#include "protocol/member/step.hpp"
#include "protocol/values/timing.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

/// This node's state in a heartbeat; a change of it is reported without waiting for the period.
struct HeartbeatState {
    MemberSet heard;
    bool quorum_connected = false;
    bool eligible = false;
    bool recovering = false;
    bool announced = false;
    bool stepping_down = false;
    NodeId leader;
    Epoch epoch;
    bool operator==(const HeartbeatState&) const = default;
};

/// When the next heartbeat goes out, and to whom. Renewals and their grants carry heartbeats, so
/// that leader and followers need no others; and the followers send each other theirs in the steps
/// in which they are awake for a renewal.
class HeartbeatClock {
public:
    enum class Due : std::uint8_t { none, all_but_leader, changed, periodic };
    /// A change of state is reported soon, not at once: on a failover every node changes at the
    /// same moment, and N² heartbeats would stand in the way of the election. `quiet`: the leader
    /// vouches for all the others. `report_within`: a change waits so long.
    Due due_now(Instant now, const HeartbeatState& state, const Timing& timing, bool quiet,
                Duration report_within);
    /// It is whether the node may stand that has changed: the others wait for that, or would ask it
    /// in vain.
    bool stands_anew(const HeartbeatState& state) const {
        return state.eligible != state_.eligible || state.recovering != state_.recovering;
    }
    /// All have just been sent `state`, in whatever message.
    void told_all(Instant now, const HeartbeatState& state, const Timing& timing);
    /// Before it was time, and perhaps not all: the next time stays, if it is no later than one
    /// period on.
    void told_change(Instant now, const HeartbeatState& state, const Timing& timing, bool all);
    void told_all_but_leader(Instant now) { others_told_at_ = now; }
    /// The leader has just been sent the state, in the grant of its renewal; after `overdue` the
    /// next one is late.
    void told_leader(Instant now, Duration overdue) {
        renewal_answered_ = true;
        next_ = now + overdue;
    }

    void collect_wakes(WakeTime& wake) const {
        wake.timer(next_);
        wake.timer(changed_at_);
    }
    bool operator==(const HeartbeatClock&) const = default;
    auto digest_fields() const {
        return std::tie(next_, others_told_at_, renewal_answered_, changed_at_, state_);
    }

private:
    Instant next_ = long_ago;
    Instant others_told_at_ = long_ago;
    bool renewal_answered_ = false;  // in this step
    Instant changed_at_ = never;
    HeartbeatState state_;
};

/// The leader that was reported to users, and a user's resign that waits for another one.
class ReportedLeader {
public:
    NodeId leader() const { return leader_; }
    /// The highest epoch that was reported to users.
    Epoch epoch() const { return epoch_; }
    Instant since() const { return since_; }
    /// The last one that there was.
    NodeId last() const { return last_; }
    bool is(const LeaderView& view) const {
        return view.leader == leader_ && (!view.leader || view.epoch == epoch_);
    }
    /// `led_until`: the last sign of life of the one that was reported.
    void tell(Step& step, const LeaderView& view, std::string advertised, bool after_end,
              Instant led_until);

    /// Of the last leader's life, beside its messages.
    void note_sign(Instant at) { sign_at_ = later(sign_at_, at); }
    Instant sign_at() const { return sign_at_; }

    /// The process of the last leader has ended, after its last sign.
    void note_end(Incarnation run) {
        ended_at_ = sign_at_;
        ended_run_ = run;
    }
    /// And nothing has been heard of it since.
    bool has_ended() const { return ended_at_ == sign_at_; }
    Incarnation ended_run() const { return ended_run_; }

    /// `request` is to be answered when a leader of an epoch after `given_up` is in place.
    void answer_when_replaced(RequestId request, Epoch given_up);
    void answer_resign(Step& step, NodeId self);

    bool operator==(const ReportedLeader&) const = default;
    auto digest_fields() const {
        return std::tie(leader_, last_, epoch_, since_, unled_since_, sign_at_, ended_at_,
                        ended_run_, resign_request_, resigned_epoch_);
    }

private:
    NodeId leader_;
    NodeId last_;
    Epoch epoch_;
    Instant since_ = never;
    Instant unled_since_ = never;  // while nobody leads
    // Of the last leader's life; when it was reported at least.
    Instant sign_at_ = long_ago;
    Instant ended_at_ = never;
    Incarnation ended_run_;
    RequestId resign_request_;
    Epoch resigned_epoch_;
};

}  // namespace bullring::protocol
