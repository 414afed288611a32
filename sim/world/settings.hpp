// Owns: the settings of a world: the members and their configuration, the network, the disks, the
// clocks. A plain value; a scenario file begins with one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/values/config.hpp"
#include "protocol/values/names.hpp"
#include "sim/world/types.hpp"

namespace bullring::sim {

/// Where a world begins that nothing moves but the moves of a search (sim/explore).
enum class Begin : std::uint8_t {
    cold,     // all have just started, without files
    settled,  // a leader, nothing in flight, and all that happened so long ago that nobody asks
};

constexpr const char* name(Begin begin) {
    switch (begin) {
        case Begin::cold: return "cold";
        case Begin::settled: return "settled";
    }
    return protocol::no_name;
}

struct Settings {
    std::vector<NodeId> ids{{1}, {2}, {3}};  // ascending
    std::vector<NodeId> founders{};  // of these; the others may be added later. Empty: all of them
    /// Of nodes that are started with other `--peers`, and found a cluster of their own beside the
    /// first one: against A8.
    std::map<NodeId, std::vector<NodeId>> founders_of;
    /// The nodes of a second cluster beside this one, of ids that there are here, too; they found
    /// it.
    std::vector<NodeId> neighbours{};
    bool neighbours_have_this_name = false;
    protocol::Algorithm algorithm = protocol::Algorithm::bully;
    protocol::QuorumMode quorum = protocol::QuorumMode::majority;
    protocol::Profile profile = protocol::Profile::lan;
    std::uint64_t seed = 1;
    std::optional<Begin> by_hand;  // nullopt: time goes on, and what takes how long is drawn

    // ---- The network and the machines.
    Range delay{200 * us, ms};
    std::uint32_t loss_ppm = 0;  // of messages that TCP has to send again, which costs `resend`
    Range resend{50 * ms, 250 * ms};
    Range fsync{500 * us, 2 * ms};
    std::uint32_t drift_ppm = 500;  // each clock of each node runs at 1 ± up to this
    std::uint64_t unread_max = 64;  // messages that a receiver's kernel takes before the sender's
    std::uint64_t outbox_max = 64;  // outbox fills, and what that holds
    bool translated = false;        // a NAT: the two ends see different addresses

    // ---- The nodes.
    std::optional<Duration> lease;
    std::optional<Duration> heartbeat;
    std::optional<Duration> suspect_after;
    std::uint32_t rho_ppm = 1000;
    Duration lease_max = protocol::seconds(10);
    std::optional<bool> preempt;  // nullopt: as the program does, Bully on, Ring off
    Duration preempt_delay = protocol::seconds(10);
    Duration hand_over_hold_off = protocol::seconds(60);
    Duration bootstrap_wait = protocol::seconds(10);
    Duration forget_after = protocol::Config().forget_after;
    protocol::FirstEpoch first_epoch = protocol::FirstEpoch::clock;
    protocol::FastRelease fast_release = protocol::FastRelease::fin;
    bool tie = true;
    bool hooks = false;  // what acts for a leader may outlive it without a lock
    Duration kill_margin{0};
    Range task_ending{0, 0};    // how long a task takes to end after StopTask
    std::set<NodeId> workless;  // members that have no task of their own
    std::map<NodeId, protocol::Priority> priorities;
    std::map<NodeId, Duration> leases;       // of members that ask for another one
    std::map<NodeId, Duration> leases_max;   // of members that grant others
    std::map<NodeId, Duration> heartbeats;   // of members that send others
    std::map<NodeId, std::uint16_t> wires;   // of members that speak no higher version than that
    std::map<NodeId, Duration> wall_clocks;  // of machines: how far they are ahead of real time

    // ---- Marks: an assumption of the protocol is broken on purpose, and with it what rests on it.
    bool beyond_rho = false;   // both clocks of a node may be wrong (A2)
    bool beyond_disk = false;  // a disk may come back older, or most may be lost at once (A6)

    bool operator==(const Settings&) const = default;
};

/// The configuration of one member.
protocol::Config config_of(const Settings& settings, NodeId id, Site site = Site::own);

/// All that is wrong, in sentences; empty when the settings are sound.
std::vector<std::string> problems(const Settings& settings);

}  // namespace bullring::sim
