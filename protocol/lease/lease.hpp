// The holder's side of the lease engine (PROTOCOL R3): which voters have granted this epoch, and
// until when that is a lease. Votes are kept by voter, never counted by message.
#pragma once

#include <tuple>
#include <vector>

#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

class Lease {
public:
    Lease() = default;
    Lease(std::size_t members, std::size_t majority) : majority_(majority), grants_(members) {}

    /// A new candidacy: nothing granted yet. An epoch is never begun twice (R1).
    void begin(Epoch epoch);
    /// After the step-down is complete: nothing is counted any more.
    void end();
    /// Counts a grant until `end` (the stamp, taken before sending, plus the lease). A later end of
    /// the same voter replaces an earlier one; an earlier one changes nothing.
    void count(Index voter, Instant end, SessionId tied);

    Epoch epoch() const { return epoch_; }
    /// D: the end of the majority's last grant, which is the q-th largest, clock by clock; long_ago
    /// with fewer voters than that.
    Instant deadline() const { return deadline_; }
    /// The same over what was granted tied to no session: until then the lease holds whatever
    /// becomes of the sessions (a later tied grant leaves the earlier promise as it is). Never
    /// later than deadline().
    Instant untied_deadline() const;
    MemberSet voters(Instant now) const;
    /// Until when that voter's grant counts; long_ago without one.
    Instant counted_until(Index voter) const { return grants_[voter].end; }
    /// Until when a grant that is tied to this session counts: it must not be closed before.
    Instant tied_until(SessionId session) const;
    bool operator==(const Lease&) const = default;
    auto digest_fields() const { return std::tie(epoch_, grants_); }

private:
    struct Counted {
        Instant end = long_ago;
        SessionId tied;
        Instant untied_end = long_ago;  // what is tied later does not take it back
        bool operator==(const Counted&) const = default;
    };
    Instant majority_end(bool untied_only) const;

    std::size_t majority_ = 0;
    Epoch epoch_;
    std::vector<Counted> grants_;  // by voter
    Instant deadline_ = long_ago;  // of grants_; asked for at every step
};

}  // namespace bullring::protocol
