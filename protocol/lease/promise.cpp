#include "protocol/lease/promise.hpp"

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

PromiseVerdict Promise::judge(const PromiseRequest& request, Instant now) const {
    const bool same_key = request.key == key_;
    // R2.3
    if (live(now) && !same_key) return PromiseVerdict::busy;
    // R2.5: the same grant asked again is given again, or a lost reply would lose the vote.
    if (same_key && request.epoch == epoch_ && !dead_) return PromiseVerdict::acceptable;
    if (request.epoch > vmax_) return PromiseVerdict::acceptable;
    // A renewal may be below vmax, or a restarted voter could never support the running leader
    // again; but never below the same holder's own later epoch, nor one that it has resigned.
    const bool regresses =
        same_key && (request.epoch < epoch_ || (request.epoch == epoch_ && dead_));
    if (request.renew && !regresses) return PromiseVerdict::acceptable;
    return PromiseVerdict::stale;
}

void Promise::grant(const PromiseRequest& request, Instant now) {
    BULLRING_ASSERT(judge(request, now) == PromiseVerdict::acceptable);
    const Instant end = now + request.length;
    // R2.7: on the same session it grows; on another one the old end stays, tied to neither.
    if (live(now) && request.session == session_) {
        tied_until_ = later(tied_until_, end);
    } else if (live(now)) {
        held_until_ = later(held_until_, tied_until_);
        tied_until_ = end;
    } else {
        held_until_ = long_ago;
        tied_until_ = end;
    }
    // A candidacy that comes late does not take back what the renewal has announced.
    to_leader_ = request.renew || (to_leader_ && request.key == key_ && request.epoch == epoch_);
    session_ = request.session;
    key_ = request.key;
    epoch_ = request.epoch;
    dead_ = false;
    if (request.epoch > vmax_) vmax_ = request.epoch;
}

void Promise::resume(const PromiseRequest& promised, Instant since) {
    key_ = promised.key;
    epoch_ = promised.epoch;
    dead_ = false;
    to_leader_ = promised.renew;
    session_ = no_session;
    tied_until_ = long_ago;
    held_until_ = since + promised.length;
    raise_floor(promised.epoch);
}

bool Promise::release_session(SessionId session, Instant now) {
    // R4.1: nothing but the session that it is tied to.
    if (!session || session != session_ || promise_over(now, tied_until_)) return false;
    tied_until_ = long_ago;
    session_ = no_session;
    return true;
}

bool Promise::release_resigned(HolderKey key, Epoch epoch) {
    // R5.10: no other epoch, and no other run.
    if (key != key_ || epoch != epoch_) return false;
    tied_until_ = long_ago;
    held_until_ = long_ago;
    session_ = no_session;
    dead_ = true;
    to_leader_ = false;
    return true;
}

void Promise::raise_floor(Epoch epoch) {
    if (epoch > vmax_) vmax_ = epoch;
}

}  // namespace bullring::protocol
