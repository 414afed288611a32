// Why a member does not stand, whatever the others do: its health, its host's will, a stop, and
// what it owes after a resignation (PROTOCOL §7, §9).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "protocol/values/ids.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/time.hpp"
#include "protocol/values/timing.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

class Gate {
public:
    bool open(Instant now) const {
        return healthy_ && willing_ && !stopping_ && due(now, healthy_from_) &&
               due(now, stand_back_until_);
    }

    bool healthy() const { return healthy_; }
    /// R5.7: after bad health it stands again when it has been well for so long.
    void recovers(Instant now, Duration probation) {
        healthy_ = true;
        healthy_from_ = now + probation;
    }
    void falls_ill() { healthy_ = false; }
    Duration probation_left(Instant now) const {
        return std::max(elapsed(now, healthy_from_), Duration{0});
    }
    bool on_probation(Instant now) const { return healthy_ && !due(now, healthy_from_); }
    void end_probation(Instant now) { healthy_from_ = now; }

    /// R5.6: the host has somebody to do the work.
    bool willing() const { return willing_; }
    void set_willing(bool willing) { willing_ = willing; }

    /// R5.15
    Work work() const { return work_; }
    /// Empty: what its configuration says.
    const std::string& advertised() const { return advertised_; }
    void set_work(Work work, const std::string& advertised) {
        work_ = work;
        advertised_ = advertised;
        ++work_changes_;
    }
    std::uint32_t work_changes() const { return work_changes_; }

    bool stopping() const { return stopping_; }
    void stop() { stopping_ = true; }

    /// R5.9: after its own resignation.
    void stand_back_until(Instant at) { stand_back_until_ = at; }
    /// Another leads: there is nothing to stand back for any more.
    void end_standing_back() { stand_back_until_ = long_ago; }
    bool stands_back(Instant now) const { return !due(now, stand_back_until_); }

    /// For the successor that a resigned leader has named.
    void reserve(NodeId successor, Instant until) {
        successor_ = successor;
        reserved_until_ = until;
    }
    bool reserved_for_other(Instant now, NodeId id) const {
        return successor_ && successor_ != id && !due(now, reserved_until_);
    }
    NodeId successor() const { return successor_; }
    Instant reserved_until() const { return reserved_until_; }

    /// A user has asked it to resign: for a while it reports no age of its quorum, so that nobody
    /// hands over to it, and longer each time that this happens again soon.
    void be_modest(Instant now, const Timing& timing) {
        const Duration longest = timing.hand_over_hold_off_max;
        const bool again = modest_for_.ns > 0 && !due(now, modest_until_ + longest);
        modest_for_ = again ? std::min(modest_for_ * 2, longest) : timing.hand_over_hold_off;
        modest_until_ = now + modest_for_;
    }
    bool modest(Instant now) const { return !due(now, modest_until_); }

    void collect_wakes(WakeTime& wake) const {
        for (const Instant at : {stand_back_until_, modest_until_, healthy_from_}) wake.timer(at);
        if (successor_) wake.timer(reserved_until_);
    }
    bool operator==(const Gate&) const = default;
    auto digest_fields() const {
        return std::tie(healthy_, healthy_from_, willing_, work_, advertised_, work_changes_,
                        stopping_, stand_back_until_, successor_, reserved_until_, modest_until_,
                        modest_for_);
    }

private:
    bool healthy_ = true;
    Instant healthy_from_ = long_ago;
    bool willing_ = true;
    Work work_ = Work::own;
    std::string advertised_;
    std::uint32_t work_changes_ = 0;
    bool stopping_ = false;
    Instant stand_back_until_ = long_ago;
    NodeId successor_;
    Instant reserved_until_ = long_ago;
    Instant modest_until_ = long_ago;
    Duration modest_for_{0};
};

}  // namespace bullring::protocol
