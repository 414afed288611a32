#include "protocol/report/reported_leader.hpp"

#include <utility>

namespace bullring::protocol {

void ReportedLeader::tell(Step& step, const LeaderView& view, std::string advertised,
                          bool after_end, Instant led_until) {
    if (leader_) unled_since_ = led_until;
    advertised_ = advertised;
    LeaderChanged change{view.leader, epoch_, std::move(advertised), after_end};
    if (last_) change.unled_since = unled_since_;
    leader_ = view.leader;
    since_ = step.now;
    if (view.leader) {
        // One that is found again may be so by somebody who does not know yet that it has ended.
        if (view.leader != last_ || view.epoch != epoch_) {
            sign_at_ = step.now;
            ended_at_ = never;
        }
        last_ = view.leader;
        change.epoch = epoch_ = view.epoch;
        unled_since_ = never;
    }
    step.act(std::move(change));
}

void ReportedLeader::tell_place(Step& step, std::string_view advertised) {
    if (advertised == advertised_) return;
    advertised_ = advertised;
    step.act(LeaderChanged{leader_, epoch_, advertised_, false, step.now});
}

void ReportedLeader::answer_when_replaced(RequestId request, Epoch given_up) {
    resign_request_ = request;
    resigned_epoch_ = given_up;
}

void ReportedLeader::answer_resign(Step& step, NodeId self) {
    if (resign_request_.asker == Asker::none || !leader_ || epoch_ <= resigned_epoch_) return;
    if (leader_ == self)
        step.act(ResignAnswer{resign_request_, false, "no other node took over"});
    else
        step.act(ResignAnswer{resign_request_, true, {}});
    resign_request_ = {};
}

}  // namespace bullring::protocol
