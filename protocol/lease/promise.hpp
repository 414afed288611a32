// The voter's arithmetic (PROTOCOL R2, R4): one promise to one holder for one epoch,
// until an instant. Pure arithmetic; who asks and who answers is not known here. Neither Bully nor
// Ring can reach it but through vote().
#pragma once

#include <tuple>

#include "protocol/values/ids.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The promise that a holder asks a voter for.
struct PromiseRequest {
    HolderKey key;
    Epoch epoch;
    bool renew = false;  // only a holder with a valid lease sends it
    Duration length;     // P(x), the voter's side of the lease x
    SessionId session;   // the accepted session it is tied to; `no_session` when untied
};

enum class PromiseVerdict : std::uint8_t { acceptable, busy, stale };

class Promise {
public:
    /// `floor`: every epoch ever granted here is ≤ floor (R6: the durable hw, and what was heard).
    constexpr explicit Promise(Epoch floor = {}) : vmax_(floor) {}

    bool live(Instant now) const { return !promise_over(now, end()); }
    bool live_to_other(Instant now, HolderKey own) const { return live(now) && key_ != own; }
    /// R2's test, without the conditions that lie outside the promise (recovery, reservation, …).
    PromiseVerdict judge(const PromiseRequest& request, Instant now) const;
    /// Gives the promise. The caller has judged it acceptable at the same instant.
    void grant(const PromiseRequest& request, Instant now);
    /// R6: a promise of an earlier run goes on, tied to no session.
    void resume(const PromiseRequest& promised, Instant since);
    /// R4: the session's FIN was read. Only what is tied to that very session ends; true if so.
    bool release_session(SessionId session, Instant now);
    /// RESIGN(e) of `key`; true when it was about this promise.
    bool release_resigned(HolderKey key, Epoch epoch);
    /// R6: a recovering node hears of epochs it may have promised before.
    void raise_floor(Epoch epoch);

    HolderKey key() const { return key_; }
    Epoch epoch() const { return epoch_; }
    /// The last grant was a renewal: its holder has announced itself as the leader.
    bool to_leader() const { return to_leader_; }
    Epoch vmax() const { return vmax_; }
    Instant end() const { return later(tied_until_, held_until_); }
    bool operator==(const Promise&) const = default;
    auto digest_fields() const {
        return std::tie(vmax_, key_, epoch_, dead_, to_leader_, session_, tied_until_, held_until_);
    }

private:
    Epoch vmax_;         // highest epoch ever granted, self-promises included; never falls
    HolderKey key_;      // whom the last grant was given to
    Epoch epoch_;        // its epoch; never falls for one key
    bool dead_ = false;  // that epoch was resigned; it is never granted again
    bool to_leader_ = false;
    SessionId session_;              // what tied_until_ is tied to
    Instant tied_until_ = long_ago;  // `exp`: ends early with the FIN of session_
    Instant held_until_ = long_ago;  // `fl`: not released by any FIN
};

}  // namespace bullring::protocol
