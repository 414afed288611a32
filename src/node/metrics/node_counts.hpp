// Owns: all that a node counts for its metrics from its start on. Each member has one writer: the
// loop, if nothing else is said.
#pragma once

#include <array>
#include <limits>

#include "protocol/values/messages.hpp"
#include "src/node/metrics/counts.hpp"

namespace bullring {

/// The time that a failover takes: from a hundred microseconds to the longest lease.
inline constexpr std::array failover_bounds{
    protocol::microseconds(250), protocol::milliseconds(1),   protocol::microseconds(2500),
    protocol::milliseconds(5),   protocol::milliseconds(10),  protocol::milliseconds(25),
    protocol::milliseconds(50),  protocol::milliseconds(100), protocol::milliseconds(250),
    protocol::milliseconds(500), protocol::seconds(1),        protocol::milliseconds(2500),
    protocol::seconds(5),        protocol::seconds(10),       protocol::seconds(30)};

/// The delays of a loop, or of a disk.
inline constexpr std::array delay_bounds{
    protocol::microseconds(50),  protocol::microseconds(100), protocol::microseconds(250),
    protocol::microseconds(500), protocol::milliseconds(1),   protocol::microseconds(2500),
    protocol::milliseconds(5),   protocol::milliseconds(10),  protocol::milliseconds(25),
    protocol::milliseconds(50),  protocol::milliseconds(100), protocol::milliseconds(250),
    protocol::milliseconds(500), protocol::seconds(1),        protocol::seconds(5)};

struct NodeCounts {
    NamedCounts sent{protocol::message_names()};  // by their names
    NamedCounts received{protocol::message_names()};
    // That this node began, by how they ended.
    NamedCounts elections{"won", "lost", "failed"};
    // By how the leader before went.
    NamedCounts leader_changes{"first", "replaced", "resigned", "died", "lease_expired"};
    // Connections, by what differs, or what else is wrong.
    NamedCounts refused{"version",   "cluster", "founders", "cluster id", "quorum",
                        "algorithm", "rho",     "members",  "member",     "id",
                        "session",   "garbage", "silent",   "security",   "other"};
    DurationCounts failovers{failover_bounds};
    Count leaderless_ns;                               // in times that are over
    std::atomic<std::int64_t> leaderless_since_ns{0};  // 0: there is a leader
    DurationCounts loop_lateness{delay_bounds};
    DurationCounts fsyncs{delay_bounds};  // the thread that writes the state
    // Measured last; not a number: nothing was yet.
    std::atomic<double> clock_correction_ppm{std::numeric_limits<double>::quiet_NaN()};
    // Of the event stream; -1: there is none.
    std::atomic<std::int64_t> events_lost{-1};
    // The thread that starts what only a leader runs.
    std::atomic<bool> task_running{false};
    Count task_starts;
    std::atomic<std::uint64_t> attached_candidates{0};
    std::atomic<bool> attached_leads{false};

    void attached(std::size_t candidates, bool one_leads) {
        attached_candidates.store(candidates);
        attached_leads.store(one_leads);
    }
    void task_runs(bool runs) {
        if (runs) task_starts.add();
        task_running.store(runs);
    }
};

}  // namespace bullring
