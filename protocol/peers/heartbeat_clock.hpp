// When the next heartbeat goes out (PROTOCOL §6), and what the last one has said, so that a change
// is reported before the period is over.
#pragma once

#include <cstdint>
#include <tuple>

#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/messages.hpp"
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
    Work work = Work::own;
    std::uint32_t work_changes =
        0;  // in place of what is advertised, which is not copied each time
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
        return state.eligible != state_.eligible || state.recovering != state_.recovering ||
               state.work != state_.work;
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

}  // namespace bullring::protocol
