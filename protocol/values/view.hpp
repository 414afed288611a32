// A node's knowledge, for people: status, watch, the library. A copy, judged at one instant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/values/identity.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The reasons that the host knows better than the node, for View::why. Empty: nothing.
struct HostReasons {
    std::string unhealthy;    // what is wrong, while HealthChanged{false} holds
    std::string unwilling;    // why nobody can do the work, while Standing{false} holds
    std::string unconnected;  // with whom of those that run, and why
    std::string joining;      // what it asks the members of a cluster for in vain
};

struct View {
    NodeId self;
    Membership members;          // that it deals with; whose slots the sets below have
    Membership list;             // of members that holds for it
    ClusterId cluster_id;        // 0: not known yet (C11)
    bool has_list = true;        // else `list` is that which it would begin with (C8)
    Role role = Role::follower;  // stepping_down is shown to users as follower
    NodeId leader;               // `nobody` when none is known; itself when it leads
    Epoch epoch;                 // of that leader; the highest seen when there is none
    std::string advertised;      // the leader's
    Duration lease_left{0};  // leader: of its own lease; follower: as far as it knows; 0 if none
    NodeId promised_to;      // whose promise is live here
    MemberSet connected;     // two-way, without itself
    bool quorum_connected = false;
    bool recovering = false;  // it does not vote yet (R6)
    bool healthy = true;      // as its health check has it
    bool eligible = false;    // it could lead
    bool votes = true;        // not while it is silent (R6), removed, or about to end
    /// The version of the messages that is spoken with each member, by index; 0: none, or itself.
    std::vector<std::uint16_t> versions;
    bool fenced = true;  // false with quorum none: the epoch proves nothing
    std::string why;     // one short sentence for an operator
    std::string wrong;   // what has to be mended here, whoever leads; empty: nothing
    bool operator==(const View&) const = default;
};

}  // namespace bullring::protocol
