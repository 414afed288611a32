#include "protocol/lease/holder.hpp"

#include <algorithm>

namespace bullring::protocol {

void Holder::begin(Epoch epoch, const Membership& base, Instant until) {
    lease_.begin(epoch, base);
    refused_by_ = {};
    relied_on_until_ = long_ago;
    candidate_until_ = until;
}

void Holder::propose(const Membership& next, Instant now) {
    lease_.propose(next);
    proposed_at_ = now;
}

void Holder::set_tied(bool tied) {
    // R4.5: who has waited for untied grants may still act by them.
    if (tied && !tied_) relied_on_until_ = lease_.untied_deadline();
    tied_ = tied;
}

bool Holder::settle_if_held(Instant now) {
    if (!lease_.next_holds(now, tied_ ? relied_on_until_ : lease_.untied_deadline())) return false;
    lease_.settle();
    return true;
}

void Holder::win(Instant now) {
    candidate_until_ = never;
    renew_at_once(now);
}

void Holder::renewed(Instant now, bool all, const Timing& timing) {
    next_renewal_ = now + timing.heartbeat;
    if (all) next_for_all_ = now + timing.followers_pace();
}

void Holder::end() {
    lease_.end();
    refused_by_ = {};
    candidate_until_ = never;
    next_renewal_ = next_for_all_ = never;
}

bool Holder::may_count(Index voter, Instant stamp) const {
    const Instant barrier = of_slot(barriers_, voter, long_ago);
    return stamp.boottime_ns > barrier.boottime_ns && stamp.raw_ns > barrier.raw_ns;
}

void Holder::count(Index voter, Instant end, SessionId tied, Tag tag) {
    if (lease_.count(voter, end, tied, tag)) refused_by_.erase(voter);
}

void Holder::refuse(Index voter, Duration wait) {
    refused_by_.insert(voter);
    at_slot(refused_wait_, voter) = wait;
}

bool Holder::cannot_win_any_more() const {
    MemberSet left = base().voters();
    for (const Index i : refused_by_) left.erase(i);
    return !base().is_majority(left);
}

Duration Holder::wait_until_quorum_free(Instant now, Duration longest) const {
    MemberSet free = base().voters();
    const MemberSet granting = lease_.voters(now);
    std::vector<Duration> waits;
    for (const Index i : base().voters()) {
        if (!refused_by_.contains(i) || granting.contains(i)) continue;
        free.erase(i);
        waits.push_back(of_slot(refused_wait_, i));
    }
    if (base().is_majority(free)) return Duration{0};
    std::sort(waits.begin(), waits.end());
    const std::size_t needed = base().majority() - free.size();
    if (needed > waits.size()) return Duration{0};
    return std::clamp(waits[needed - 1], Duration{0}, longest);
}

}  // namespace bullring::protocol
