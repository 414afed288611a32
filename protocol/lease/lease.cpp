#include "protocol/lease/lease.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

void Lease::begin(Epoch epoch) {
    BULLRING_ASSERT(epoch > epoch_);
    epoch_ = epoch;
    end();
}

void Lease::end() {
    std::fill(grants_.begin(), grants_.end(), Counted{});
    deadline_ = long_ago;
}

void Lease::count(Index voter, Instant end, SessionId tied) {
    Counted& counted = grants_[voter];
    if (tied == no_session) counted.untied_end = later(counted.untied_end, end);
    // R3.7: the largest end of each voter.
    if (end.boottime_ns <= counted.end.boottime_ns && end.raw_ns <= counted.end.raw_ns) return;
    counted = {later(counted.end, end), tied, counted.untied_end};
    deadline_ = majority_end(false);
}

Instant Lease::untied_deadline() const { return majority_end(true); }

Instant Lease::majority_end(bool untied_only) const {
    if (majority_ == 0 || majority_ > grants_.size()) return long_ago;
    std::array<std::int64_t, members_max> boottime{};
    std::array<std::int64_t, members_max> raw{};
    for (std::size_t i = 0; i < grants_.size(); ++i) {
        const Instant end = untied_only ? grants_[i].untied_end : grants_[i].end;
        boottime[i] = end.boottime_ns;
        raw[i] = end.raw_ns;
    }
    // R3.7: the q-th largest end, never the newest. R8.3: clock by clock.
    const auto nth = [&](auto& ends) {
        const auto last = ends.begin() + static_cast<std::ptrdiff_t>(grants_.size());
        const auto at = ends.begin() + static_cast<std::ptrdiff_t>(majority_ - 1);
        std::nth_element(ends.begin(), at, last, std::greater<>());
        return *at;
    };
    return {nth(boottime), nth(raw)};
}

MemberSet Lease::voters(Instant now) const {
    MemberSet voters;
    for (std::size_t i = 0; i < grants_.size(); ++i)
        if (lease_valid(now, grants_[i].end)) voters.insert(static_cast<Index>(i));
    return voters;
}

Instant Lease::tied_until(SessionId session) const {
    for (const Counted& counted : grants_)
        if (counted.tied == session) return counted.end;
    return long_ago;
}

}  // namespace bullring::protocol
