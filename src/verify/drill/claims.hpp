// Whether two nodes claimed to lead at once, as far as that can be proved from outside. Pure.
//
// An answer proves that its node led at some instant between question and answer, no more, so two
// questions that overlap prove nothing. But an epoch is led without a break, and epochs rise with
// time: a node that claims an epoch when it is asked *after* another one has claimed a higher epoch
// has led on beside it. And nobody shares an epoch. So there are no false alarms, and what goes
// unseen is shorter than the time from one question to the next.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"

namespace bullring::drill {

struct Claim {
    protocol::NodeId node;
    protocol::Epoch epoch;
    /// When it was asked, by the clock of the drill; none: it has reported it unasked, some time
    /// ago.
    std::optional<protocol::Duration> asked;
    protocol::Duration heard;
};

class Claims {
public:
    /// A sentence that names both, when the claim contradicts an earlier one.
    std::optional<std::string> add(const Claim& claim);

private:
    struct First {
        protocol::NodeId node;
        protocol::Duration heard;
    };
    std::map<protocol::Epoch, First> first_;  // claim of each epoch
};

}  // namespace bullring::drill
