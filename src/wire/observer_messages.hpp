// The messages between observers (`status`, `watch`, `resign`, `drill`, `member`) and a node, over
// the peer port.
// Observers are not members: never heard, never tied, in no mask (PROTOCOL §3, last item).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/values/identity.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/member_change.hpp"
#include "protocol/values/time.hpp"

namespace bullring {

enum class ObserveWhat : std::uint8_t { status = 1, watch = 2, resign = 3 };

/// The first frame of an observer's connection. The frame's sender is `nobody`.
struct Observe {
    std::string cluster;
    ObserveWhat what = ObserveWhat::status;
    protocol::NodeId resign_to;  // resign only; `nobody` when the leader may choose
    bool operator==(const Observe&) const = default;
};

/// The node's part of the status JSON (one element of "nodes"), and the cluster-wide keys.
struct ObserverState {
    std::string json;
    bool operator==(const ObserverState&) const = default;
};

struct ObserverChange {
    std::int64_t ts_ns = 0;  // CLOCK_BOOTTIME of the node
    protocol::NodeId leader;
    protocol::Epoch epoch;
    std::string advertised;
    protocol::ClusterId cluster_id{};  // 0: the node does not know it, or does not tell
    protocol::Duration gap{};          // nobody had led before; 0: or it does not know
    bool operator==(const ObserverChange&) const = default;
};

struct ResignResult {
    bool done = false;
    std::string why;       // when refused
    bool lasting = false;  // the same request will always be refused
    bool operator==(const ResignResult&) const = default;
};

/// The field by which a node that is no member any more refuses to be watched.
inline constexpr const char* no_member_field = "member";

/// The node refuses the observer (another cluster): what differs.
struct ObserverRefused {
    std::string field;
    std::string mine;
    std::string yours;
    bool operator==(const ObserverRefused&) const = default;
};

/// The requests of `drill` to a node.
enum class DrillRequest : std::uint8_t {
    permission = 1,  // nothing is to happen: may it?
    crash = 2,       // it kills itself
    hang = 3,        // it stops itself, and is continued after a while
    resign = 4,      // it hands over; the answer is a ResignResult
    cut = 5,         // it is cut off from the other members for a while
};

/// Instead of OBSERVE; so is CHANGE_MEMBERS. A type of its own, so that a node which does not know
/// it ends the connection, and nothing else in the wire format changes: old and new members stay
/// together.
struct Drill {
    std::string cluster;
    DrillRequest what = DrillRequest::permission;
    /// The leadership that the fault is meant for: it never happens to another one.
    protocol::Epoch epoch;
    bool operator==(const Drill&) const = default;
};

/// Sent before the fault happens; `done` says that it happens now.
struct DrillResult {
    bool done = false;
    std::string why;           // when refused
    protocol::Duration lease;  // that it holds when it leads
    std::uint64_t members = 0;
    bool operator==(const DrillResult&) const = default;
};

/// Instead of OBSERVE, to the leader.
struct ChangeMembers {
    std::string cluster;
    protocol::MemberChange change;
    protocol::ClusterId cluster_id{};  // that is meant; 0: whichever has that name
    bool operator==(const ChangeMembers&) const = default;
};

/// Sent when the list with the change has been settled, or cannot be.
struct ChangeResult {
    bool done = false;
    std::string why;       // when refused, and what would help
    bool lasting = false;  // the same request will always be refused
    bool operator==(const ChangeResult&) const = default;
};

using ObserverMessage =
    std::variant<Observe, ObserverState, ObserverChange, ResignResult, ObserverRefused, Drill,
                 DrillResult, ChangeMembers, ChangeResult>;

/// True for a message that an observer's connection may begin with.
inline bool is_request(const ObserverMessage& message) {
    return std::holds_alternative<Observe>(message) || std::holds_alternative<Drill>(message) ||
           std::holds_alternative<ChangeMembers>(message);
}

}  // namespace bullring
