// Owns: who has led, as this node saw it, for the page: the last leaderships, also those of
// earlier runs of the node, and how much of the last day of this run had no leader.
// Bounded. Pure: instants (CLOCK_BOOTTIME) are handed in.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "src/node/leaders/leader_log.hpp"

namespace bullring {

class History {
public:
    static constexpr std::int64_t window_ns = 24LL * 3600 * 1'000'000'000;
    static constexpr std::size_t leaderships_max = 32;
    static constexpr std::size_t outages_max = 512;

    struct Leadership {
        protocol::Instant at;
        protocol::LeaderChanged what;
        std::optional<LeaderEnd> before{};
        std::optional<protocol::Duration> gap{};  // none: there was none to be lost before
        // CLOCK_REALTIME as an earlier run recorded it, whose CLOCK_BOOTTIME may be another one;
        // none: it is of this run.
        std::optional<std::int64_t> wall_ns{};
    };

    /// Nobody leads, as far as is known, from `started_ns` on.
    explicit History(std::int64_t started_ns)
        : started_ns_(started_ns), leaderless_since_(started_ns) {}

    /// Of earlier runs, in order. Once; there may have been changes in this run before.
    void add_earlier(const std::deque<Leadership>& past);

    /// In their order.
    void add(const LeaderTurn& turn);

    /// How long nobody led within the last day, or since the start. What was forgotten because
    /// there were too many gaps counts as led.
    std::int64_t leaderless_ns(std::int64_t now_ns) const;
    /// The time that this is about.
    std::int64_t watched_ns(std::int64_t now_ns) const;

    /// {"watched_ms":…,"leaderless_ms":…,"leaderless_since":…,"changes":[{"time":…,"leader":…,
    /// "epoch":…,"advertised":…,"reason":…,"gap_ms":…}]}, the newest first; "leaderless_since" is
    /// null while somebody leads; "reason": how the one before went; "gap_ms": without a leader
    /// before it, null for the first of a run. `wall_ns`: CLOCK_REALTIME at `now_ns`.
    std::string json(std::int64_t now_ns, std::int64_t wall_ns) const;

    /// Of the last change; of the start if there was none.
    std::int64_t last_ns() const { return last_ns_.value_or(started_ns_); }

private:
    struct Outage {
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
    };

    std::int64_t started_ns_;
    std::optional<std::int64_t> leaderless_since_;
    std::optional<std::int64_t> last_ns_;
    std::deque<Outage> outages_;  // that are over
    std::deque<Leadership> leaderships_;
};

}  // namespace bullring
