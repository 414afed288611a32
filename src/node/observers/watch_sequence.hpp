// Chooses which of the states that members report become lines of `watch`: each change once, and
// none that is older than what has been printed. Pure: instants are handed in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

/// {"ts_ns":…,"leader":3|null,"epoch":7,"advertised":"…"} without a line break.
std::string watch_line(const ObserverChange& change);

using WallClockTime = std::chrono::system_clock::time_point;

/// The same for people, by local time: "2026-01-31 22:09:58.123 +0100  node 3 leads in epoch 7".
std::string watch_text(const ObserverChange& change, WallClockTime now);

class WatchSequence {
public:
    /// A member that is switched to may lag behind the one before: what it says about an earlier
    /// epoch is held back. No view outlives the longest promise (lease-max, 10 s); what is still
    /// said after this long is the truth of a cluster whose epochs began anew, or that has no
    /// quorum.
    static constexpr protocol::Duration hold_back = protocol::seconds(12);

    /// A state that a member has reported, at `now` (a clock that never goes back). The line to
    /// print, or nothing. A line without a leader carries the epoch of the leader last printed.
    std::optional<ObserverChange> on_state(const ObserverChange& state, protocol::Duration now);

    /// No member can be reached.
    std::optional<ObserverChange> on_nobody_reachable(std::int64_t ts_ns);

    /// Another member is followed from now on.
    void on_switch() { held_since_.reset(); }

private:
    std::optional<ObserverChange> print(ObserverChange change);

    std::optional<ObserverChange> printed_;
    protocol::Epoch last_epoch_;  // of the leader last printed
    std::optional<protocol::Duration> held_since_;
};

}  // namespace bullring
