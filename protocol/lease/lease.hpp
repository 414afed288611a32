// The holder's arithmetic (PROTOCOL R3): which voters have granted this epoch, and until when that
// is a lease. Votes are kept by voter, never counted by message.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The grants that are counted under one list of members. Those of members without a vote are kept,
/// too, but make no majority.
class Tally {
public:
    Tally() = default;
    explicit Tally(const Membership& list) : list_(list), grants_(list.places()) {}

    const Membership& list() const { return list_; }
    /// A later end of the same voter replaces an earlier one; an earlier one changes nothing. Of
    /// somebody who is not in the list nothing is counted.
    void count(Index voter, Instant end, SessionId tied);
    /// D: the end of the majority's last grant, which is the q-th largest, clock by clock; long_ago
    /// with fewer voters than that.
    Instant deadline() const { return deadline_; }
    Instant untied_deadline() const { return majority_end(true); }
    /// The voters whose grants count now.
    MemberSet voters(Instant now) const;
    Instant counted_until(Index voter) const {
        return voter < grants_.size() ? grants_[voter].end : long_ago;
    }
    Instant tied_until(SessionId session) const;
    bool operator==(const Tally&) const = default;
    auto digest_fields() const { return std::tie(list_, grants_); }

private:
    struct Counted {
        Instant end = long_ago;
        SessionId tied;
        Instant untied_end = long_ago;  // what is tied later does not take it back
        bool operator==(const Counted&) const = default;
    };
    Instant majority_end(bool untied_only) const;

    Membership list_;
    std::vector<Counted> grants_;  // by voter
    Instant deadline_ = long_ago;  // of grants_; asked for at every step
};

class Lease {
public:
    /// A new candidacy under the list on its disk: nothing granted yet. An epoch is never begun
    /// twice (R1.5).
    void begin(Epoch epoch, const Membership& base);
    /// After the step-down is complete: nothing is counted any more.
    void end();
    /// Counts a grant until `end` (the stamp, taken before sending, plus the lease), by a voter
    /// whose list has this tag: the base's or that of the next one. False: any other.
    bool count(Index voter, Instant end, SessionId tied, Tag tag);

    /// C5: the list that decides, and the one that is to follow it.
    const Membership& base() const { return base_.list(); }
    const std::optional<Tally>& next() const { return next_; }
    /// C2: what was under way before is undone.
    void propose(const Membership& next) { next_.emplace(next); }
    /// C5: the next list has a majority whose lease is not the shorter one. `untied_until`: an end
    /// of untied grants that somebody relies on.
    bool next_holds(Instant now, Instant untied_until) const;
    /// The next list decides from now on; grants that do not know it are forgotten.
    void settle();

    Epoch epoch() const { return epoch_; }
    /// D, by the base alone.
    Instant deadline() const { return base_.deadline(); }
    /// The same over what was granted tied to no session: until then the lease holds whatever
    /// becomes of the sessions (a later tied grant leaves the earlier promise as it is). Never
    /// later than deadline().
    Instant untied_deadline() const { return base_.untied_deadline(); }
    MemberSet voters(Instant now) const { return base_.voters(now); }
    /// Until when that member's grant counts, by either list; long_ago without one.
    Instant counted_until(Index voter) const;
    /// Until when a grant that is tied to this session counts: it must not be closed before.
    Instant tied_until(SessionId session) const;
    bool operator==(const Lease&) const = default;
    auto digest_fields() const { return std::tie(epoch_, base_, next_); }

private:
    Epoch epoch_;
    Tally base_;
    std::optional<Tally> next_;
};

}  // namespace bullring::protocol
