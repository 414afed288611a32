#include "protocol/lease/lease.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

void Tally::count(Index voter, Instant end, SessionId tied) {
    if (!list_.all().contains(voter)) return;
    Counted& counted = grants_[voter];
    if (tied == no_session) counted.untied_end = later(counted.untied_end, end);
    // R3.7: the largest end of each voter.
    if (end.boottime_ns <= counted.end.boottime_ns && end.raw_ns <= counted.end.raw_ns) return;
    counted = {later(counted.end, end), tied, counted.untied_end};
    deadline_ = majority_end(false);
}

Instant Tally::majority_end(bool untied_only) const {
    const MemberSet voters = list_.voters();
    if (voters.empty()) return long_ago;
    std::array<std::int64_t, members_max> boottime{};
    std::array<std::int64_t, members_max> raw{};
    std::size_t count = 0;
    // C5.3: who has no vote is not counted.
    for (const Index i : voters) {
        const Instant end = untied_only ? grants_[i].untied_end : grants_[i].end;
        boottime[count] = end.boottime_ns;
        raw[count++] = end.raw_ns;
    }
    // R3.7: the q-th largest end, never the newest. R8.3: clock by clock.
    const auto nth = [&](auto& ends) {
        const auto last = ends.begin() + static_cast<std::ptrdiff_t>(count);
        const auto at = ends.begin() + static_cast<std::ptrdiff_t>(list_.majority() - 1);
        std::nth_element(ends.begin(), at, last, std::greater<>());
        return *at;
    };
    return {nth(boottime), nth(raw)};
}

MemberSet Tally::voters(Instant now) const {
    MemberSet granting;
    for (const Index i : list_.voters())
        if (lease_valid(now, grants_[i].end)) granting.insert(i);
    return granting;
}

Instant Tally::tied_until(SessionId session) const {
    for (const Counted& counted : grants_)
        if (counted.tied == session) return counted.end;
    return long_ago;
}

void Lease::begin(Epoch epoch, const Membership& base) {
    BULLRING_ASSERT(epoch > epoch_);
    epoch_ = epoch;
    base_ = Tally(base);
    next_.reset();
}

void Lease::end() {
    base_ = Tally(base_.list());
    next_.reset();
}

bool Lease::count(Index voter, Instant end, SessionId tied, Tag tag) {
    // C5.5: by no list but the two.
    const bool knows_next = next_ && tag == next_->list().tag();
    if (!knows_next && tag != base_.list().tag()) return false;
    base_.count(voter, end, tied);
    // C5.1: under the next list only who has it.
    if (knows_next) next_->count(voter, end, tied);
    return true;
}

namespace {

/// `a` is not before `b`, by either clock.
bool not_before(Instant a, Instant b) { return a == later(a, b); }

}  // namespace

bool Lease::next_holds(Instant now, Instant untied_until) const {
    // C5.2: not before its lease is the longer one. C5.6: what is relied on never falls.
    return next_ && not_before(next_->deadline(), base_.deadline()) &&
           (promise_over(now, untied_until) || not_before(next_->untied_deadline(), untied_until));
}

void Lease::settle() {
    base_ = std::move(*next_);
    next_.reset();
}

Instant Lease::counted_until(Index voter) const {
    const Instant end = base_.counted_until(voter);
    return next_ ? later(end, next_->counted_until(voter)) : end;
}

Instant Lease::tied_until(SessionId session) const {
    const Instant end = base_.tied_until(session);
    return next_ ? later(end, next_->tied_until(session)) : end;
}

}  // namespace bullring::protocol
