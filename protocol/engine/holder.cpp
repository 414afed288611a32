#include "protocol/engine/holder.hpp"

#include <algorithm>

namespace bullring::protocol {

void Holder::begin(Epoch epoch, Instant until) {
    lease_.begin(epoch);
    refused_by_ = {};
    candidate_until_ = until;
}

void Holder::win(Instant now) {
    candidate_until_ = never;
    next_renewal_ = now;
}

void Holder::end() {
    lease_.end();
    refused_by_ = {};
    candidate_until_ = never;
    next_renewal_ = never;
}

bool Holder::may_count(Index voter, Instant stamp) const {
    const Instant barrier = barriers_[voter];
    return stamp.boottime_ns > barrier.boottime_ns && stamp.raw_ns > barrier.raw_ns;
}

void Holder::count(Index voter, Instant end, SessionId tied) {
    lease_.count(voter, end, tied);
    refused_by_.erase(voter);
}

void Holder::refuse(Index voter, Duration wait) {
    refused_by_.insert(voter);
    refused_wait_[voter] = wait;
}

bool Holder::cannot_win_any_more() const {
    return refused_wait_.size() - refused_by_.size() < majority_;
}

Duration Holder::wait_until_quorum_free(Instant now, Duration longest) const {
    const std::size_t members = refused_wait_.size();
    const std::size_t granted = lease_.voters(now).size();
    const std::size_t unknown = members - std::min(members, granted + refused_by_.size());
    if (granted + unknown >= majority_) return Duration{0};
    std::vector<Duration> waits;
    for (const Index i : refused_by_) waits.push_back(refused_wait_[i]);
    std::sort(waits.begin(), waits.end());
    const std::size_t needed = majority_ - granted - unknown;
    if (needed > waits.size()) return Duration{0};
    return std::clamp(waits[needed - 1], Duration{0}, longest);
}

}  // namespace bullring::protocol
