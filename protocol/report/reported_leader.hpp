// The leader that was reported to users, so that only changes are reported.
#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include "protocol/peers/peer.hpp"
#include "protocol/values/step.hpp"

namespace bullring::protocol {

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
    /// It leads on, and is to be found there from now on.
    void tell_place(Step& step, std::string_view advertised);
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
        return std::tie(leader_, last_, epoch_, advertised_, since_, unled_since_, sign_at_,
                        ended_at_, ended_run_, resign_request_, resigned_epoch_);
    }

private:
    NodeId leader_;
    NodeId last_;
    Epoch epoch_;
    std::string advertised_;
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
