// When a member begins an election: after a pause since its last try, staggered by rank when a
// leader is lost, or at once when it is called.
#pragma once

#include <cstdint>
#include <tuple>

#include "protocol/values/time.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

/// Why to campaign without asking anybody.
enum class Call : std::uint8_t {
    none,
    successor,     // a RESIGN has named this node
    higher_epoch,  // an epoch was refused as too low
    disk,          // the epoch that it wanted is not durable yet
};

class ElectionTimer {
public:
    void call(Call why) { call_ = why; }
    void end_call() { call_ = Call::none; }
    Call call() const { return call_; }

    void retry_at(Instant at) { retry_at_ = at; }
    void retry_not_before(Instant at) { retry_at_ = later(retry_at_, at); }
    /// The pause after a try that has failed is over.
    bool retry_due(Instant now) const { return due(now, retry_at_); }
    bool start_due(Instant now) const { return due(now, start_at_); }

    /// A leader was known at the last step, and is not now.
    bool leader_lost(bool known) const { return leader_was_known_ && !known; }
    /// The next election begins as start_within() says. If this node has followed a leader, the
    /// pause after a try that failed before was of another election.
    void on_leader_lost(Instant now) {
        lost_at_ = now;
        start_at_ = never;
        if (has_followed_) retry_at_ = long_ago;  // R3.12
        has_followed_ = false;
    }
    /// How long after the loss, as far as is known now: one for whom a stagger was left may be
    /// gone.
    void start_within(Duration after) { start_at_ = earlier(start_at_, lost_at_ + after); }
    void note_leader(bool known, bool followed) {
        leader_was_known_ = known;
        leader_ever_known_ = leader_ever_known_ || known;
        has_followed_ = has_followed_ || followed;
    }
    bool leader_ever_known() const { return leader_ever_known_; }

    void collect_wakes(WakeTime& wake) const {
        wake.timer(retry_at_);
        wake.timer(start_at_);
    }
    bool operator==(const ElectionTimer&) const = default;
    auto digest_fields() const {
        return std::tie(call_, retry_at_, lost_at_, start_at_, leader_was_known_,
                        leader_ever_known_, has_followed_);
    }

private:
    Call call_ = Call::none;
    Instant retry_at_ = long_ago;
    Instant lost_at_ = long_ago;
    Instant start_at_ = long_ago;
    bool leader_was_known_ = false;
    bool leader_ever_known_ = false;
    bool has_followed_ = false;  // the leader that was known last, knowing it first-hand
};

}  // namespace bullring::protocol
