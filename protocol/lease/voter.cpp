#include "protocol/lease/voter.hpp"

#include <algorithm>
#include <utility>

namespace bullring::protocol {

void Voter::grant(const PromiseRequest& request, Instant now) {
    promise_.grant(request, now);
    longest_given_ = std::max(longest_given_, request.length);
}

void Voter::resume(const PromiseRequest& promised, Instant since) {
    promise_.resume(promised, since);
    longest_given_ = std::max(longest_given_, promised.length);
}

// R2.3: one slot, the highest epoch.
bool Voter::park(const AcceptedSession& from, const Coordinator& request, Instant now) {
    if (parked_ && request.epoch < parked_->request.epoch) return false;
    parked_ = PendingRequest{from, request, now};
    return true;
}

// R2.8: when the promise has ended, unless that took longer than T_camp.
std::optional<PendingRequest> Voter::take_parked(Instant now, Duration patience) {
    if (parked_ && due(now, parked_->since + patience)) parked_.reset();
    if (!parked_ || promise_.live(now)) return std::nullopt;
    return std::exchange(parked_, std::nullopt);
}

void Voter::wait_for_disk(const AcceptedSession& from, const Coordinator& request, Instant now) {
    std::erase_if(waiting_,
                  [&](const PendingRequest& pending) { return pending.from.peer == from.peer; });
    waiting_.push_back({from, request, now});
}

std::vector<PendingRequest> Voter::take_waiting() { return std::exchange(waiting_, {}); }

void Voter::on_session_ended(const AcceptedSession& session, bool fin_releases, Instant now) {
    if (fin_releases) promise_.release_session(session.id, now);
    const auto is_its = [&](const PendingRequest& pending) {
        return pending.from.id == session.id;
    };
    // R2.8: nobody is left to be answered.
    if (parked_ && is_its(*parked_)) parked_.reset();
    std::erase_if(waiting_, is_its);
}

// R5.10, R2.8
bool Voter::on_resigned(const AcceptedSession& from, HolderKey key, Epoch epoch) {
    const auto is_over = [&](const PendingRequest& pending) {
        return pending.from.peer == from.peer && pending.request.epoch == epoch;
    };
    if (parked_ && is_over(*parked_) && parked_->from.incarnation == from.incarnation)
        parked_.reset();
    std::erase_if(waiting_, is_over);
    return promise_.release_resigned(key, epoch);
}

bool Voter::on_died(HolderKey key) {
    // N3.5: nobody is left to be answered. N3.4: the promise to that very run is over.
    if (parked_ && parked_->from.incarnation == key.incarnation) parked_.reset();
    std::erase_if(waiting_, [&](const PendingRequest& pending) {
        return pending.from.incarnation == key.incarnation;
    });
    return promise_.release_resigned(key, promise_.epoch());
}

void Voter::collect_wakes(WakeTime& wake, Duration patience) const {
    wake.promise(promise_.end());
    if (parked_) wake.timer(parked_->since + patience);
}

}  // namespace bullring::protocol
