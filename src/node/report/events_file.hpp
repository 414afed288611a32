// Owns: the lines of the event stream (bullring-events(5)): their keys and the keys' order.
// Makes text and nothing else; BackgroundWriter writes it.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/values/actions.hpp"
#include "protocol/values/config.hpp"
#include "protocol/values/identity.hpp"
#include "protocol/values/ids.hpp"

namespace bullring {

/// Where a line stands: the instant by CLOCK_BOOTTIME, by which leases are judged, and for people.
struct EventTime {
    std::int64_t ts_ns = 0;
    std::int64_t wall_clock_ns = 0;
};

EventTime event_time_now();

struct AskedAction;
struct LeaderTurn;

/// In the place of so many that were lost.
std::string lost_events_line(EventTime at, protocol::NodeId self, std::uint64_t count);

class EventLines {
public:
    explicit EventLines(const protocol::Config& config)
        : config_(config), members_(config.members) {}

    /// `boot`: of what ts_ns counts from (boot_name). `id`: of the cluster; 0: not known yet.
    std::string started(EventTime at, int pid, const std::string& boot,
                        protocol::ClusterId id = {}) const;
    /// It is known now.
    std::string cluster(EventTime at, protocol::ClusterId id) const;
    std::string stopped(EventTime at, const std::string& reason) const;
    /// `left_out`: so many like it before have no line.
    static std::string asked(EventTime at, protocol::NodeId self, const AskedAction& action,
                             std::uint64_t left_out);
    std::string leader(EventTime at, const LeaderTurn& turn) const;
    /// Empty for an action that is no event. LeaderChanged has its own line: leader().
    std::string of(EventTime at, const protocol::Action& action);

private:
    const protocol::Config& config_;
    protocol::Membership members_;  // whose slots the sets of members have
};

}  // namespace bullring
