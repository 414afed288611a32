// The holder's state (PROTOCOL R1, R3): what voters have answered to its candidacy and its
// renewals.
#pragma once

#include <tuple>
#include <vector>

#include "protocol/lease/lease.hpp"
#include "protocol/values/by_slot.hpp"
#include "protocol/values/setup.hpp"

namespace bullring::protocol {

class Holder {
public:
    const Lease& lease() const { return lease_; }
    const Membership& base() const { return lease_.base(); }
    /// The list that requests carry (C1.1).
    const Membership& newest() const {
        return lease_.next() ? lease_.next()->list() : lease_.base();
    }

    /// A candidacy under `base` begins that is given up at `until` (T_camp).
    void begin(Epoch epoch, const Membership& base, Instant until);
    /// C2: the next list is on its way from now on.
    void propose(const Membership& next, Instant now);
    Instant proposed_at() const { return proposed_at_; }
    /// C5. True: it decides from now on.
    bool settle_if_held(Instant now);
    /// It has won: renewals begin at once.
    void win(Instant now);
    /// Nothing is counted any more.
    void end();
    Instant candidate_until() const { return candidate_until_; }
    Instant next_renewal() const { return next_renewal_; }
    /// Members without a vote, too, are asked by the next renewal.
    bool next_is_for_all(Instant now) const { return due(now, next_for_all_); }
    /// All are asked, without waiting for the period.
    void renew_at_once(Instant now) { next_renewal_ = next_for_all_ = now; }
    void renewed(Instant now, bool all, const Timing& timing);

    /// A request with this stamp goes out.
    void asked(Instant stamp) { last_asked_ = stamp; }
    /// From now on a grant of that voter counts only if it answers a later request: the voter has
    /// restarted, and this node's answer says what it had promised (R3).
    void set_barrier(Index voter) { at_slot(barriers_, voter, long_ago) = last_asked_; }
    bool may_count(Index voter, Instant stamp) const;
    /// By a voter whose list has this tag.
    void count(Index voter, Instant end, SessionId tied, Tag tag);
    /// A NACK; after `wait` the voter may be free.
    void refuse(Index voter, Duration wait);
    bool cannot_win_any_more() const;
    /// How long until a majority may grant: 0 where one that has not refused is left.
    Duration wait_until_quorum_free(Instant now, Duration longest) const;

    /// Whether voters are asked to tie their grants to sessions, as far as the host has a say.
    bool tied() const { return tied_; }
    void set_tied(bool tied);

    bool operator==(const Holder&) const = default;
    auto digest_fields() const {
        return std::tie(lease_, proposed_at_, candidate_until_, next_renewal_, next_for_all_,
                        refused_by_, refused_wait_, last_asked_, barriers_, tied_,
                        relied_on_until_);
    }

private:
    Lease lease_;
    Instant proposed_at_ = long_ago;
    Instant candidate_until_ = never;
    Instant next_renewal_ = never;
    Instant next_for_all_ = never;
    MemberSet refused_by_;                // this candidacy's NACKs, by voter
    std::vector<Duration> refused_wait_;  // by voter
    Instant last_asked_ = long_ago;
    std::vector<Instant> barriers_;  // by voter
    bool tied_ = true;
    Instant relied_on_until_ = long_ago;  // when they were last asked to tie them again
};

}  // namespace bullring::protocol
