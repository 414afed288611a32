// A line of a trace as a value: written or drawn, now or later.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "protocol/values/ids.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// When something happened. At least one of the two stands in every line.
struct TraceTime {
    /// By the node's own clocks ("ts_ns": boottime, "raw_ns"). All nodes of one host share them.
    std::optional<Instant> at;
    /// "t_ns": real time since a simulated world began. No real node knows it.
    std::optional<std::int64_t> true_ns = std::nullopt;
};

enum class TraceDirection : std::uint8_t { send, recv };

/// One message at one end of its session. A receipt finds its sending by (dialler, the dialler's
/// incarnation, session, index), because a session delivers in order and without gaps. (A sender
/// that cannot keep up replaces an HB or a COORDINATOR that waits by a newer one: then the
/// receiver's index runs behind by one.)
struct TraceEntry {
    TraceTime time;
    NodeId node;
    Incarnation incarnation;
    TraceDirection direction = TraceDirection::send;
    NodeId peer;                   // `nobody` while it is not known
    Incarnation peer_incarnation;  // 0 while it is not known
    SessionId session;             // the dialler's number for it, at both ends
    std::uint64_t index = 0;       // 0, 1, … for each session and direction
};

/// A line that is no message. `kind` is one of
///   reported by a node: start, stop, role, election_started, elected, deposed, publish, leader,
///     peer_up, peer_down
///   known from outside: crash, power_off, pause, suspend, resume, cut, heal, disk
/// or any other word, which is drawn as a mark with that word.
struct TraceMark {
    TraceTime time;
    NodeId node;                   // `nobody`: not one node's affair
    Incarnation incarnation;       // 0 while nothing runs there
    std::string_view kind;         // one word of ours
    NodeId peer;                   // peer_up, peer_down: who; cut, heal: where to (one way)
    std::optional<NodeId> leader;  // leader: whom the node follows now; `nobody` is a word, too
    std::optional<Epoch> epoch;    // publish: 0 says "not the leader"
    std::optional<Role> role;
    std::optional<Instant> until;         // publish: the lease's end; deposed: held until
    std::optional<std::uint64_t> grants;  // elected: of how many voters
    std::string_view reason;              // empty: none
};

struct TracedMessage {
    TraceEntry entry;
    Message message;
};

/// To be kept: the words of its mark must be literals.
using TraceItem = std::variant<TracedMessage, TraceMark>;

}  // namespace bullring::protocol
