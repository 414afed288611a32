// The voter's state (PROTOCOL R2, R4): its promise, and the requests that wait for the end of it or
// for the disk. Whether a request may be granted at all is judged by vote(), the only door to the
// promise.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "protocol/lease/promise.hpp"
#include "protocol/sessions/session_table.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

struct PendingRequest {
    AcceptedSession from;
    Coordinator request;
    Instant since;
    bool operator==(const PendingRequest&) const = default;
};

class Voter {
public:
    explicit Voter(Epoch floor) : promise_(floor) {}

    const Promise& promise() const { return promise_; }
    void grant(const PromiseRequest& request, Instant now);
    /// The longest promise of this run.
    Duration longest_given() const { return longest_given_; }
    /// The promise of an earlier run goes on (R6).
    void resume(const PromiseRequest& promised, Instant since);
    void raise_floor(Epoch epoch) { promise_.raise_floor(epoch); }

    /// Keeps a request until the promise ends. False: one for a higher epoch is kept already.
    bool park(const AcceptedSession& from, const Coordinator& request, Instant now);
    /// The parked request, when the promise has ended; it is dropped after `patience`.
    std::optional<PendingRequest> take_parked(Instant now, Duration patience);
    /// Keeps the newest request of that peer until the disk has answered.
    void wait_for_disk(const AcceptedSession& from, const Coordinator& request, Instant now);
    std::vector<PendingRequest> take_waiting();

    /// R4. Nothing but a FIN that was read to the end releases anything.
    void on_session_ended(const AcceptedSession& session, bool fin_releases, Instant now);
    /// A candidacy or leadership of another run is over. True: the promise was to it.
    bool on_resigned(const AcceptedSession& from, HolderKey key, Epoch epoch);
    /// R4: that run has ended. True: the promise was to it.
    bool on_died(HolderKey key);
    /// Its own candidacy or leadership of `epoch` is over: what it promised itself ends.
    void release_own(HolderKey own, Epoch epoch) { promise_.release_resigned(own, epoch); }

    void collect_wakes(WakeTime& wake, Duration patience) const;
    bool operator==(const Voter&) const = default;
    auto digest_fields() const { return std::tie(promise_, longest_given_, parked_, waiting_); }

private:
    Promise promise_;
    Duration longest_given_{0};
    std::optional<PendingRequest> parked_;
    std::vector<PendingRequest> waiting_;  // at most one a peer
};

}  // namespace bullring::protocol
