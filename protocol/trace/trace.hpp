// The lines of a trace: one JSON object for each message sent or received, and for each thing that
// happens to a node, from which a space-time diagram can be drawn. Owns the format, which real and
// simulated nodes share; who writes the lines is the host's business. Must never be read by the
// protocol itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/values/config.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/messages.hpp"
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

/// {"ts_ns":…,"raw_ns":…,"node":…,"incarnation":"hex","dir":"send","peer":…,
/// "peer_incarnation":"hex","session":…,"index":…,"kind":"COORDINATOR", …} and a line break. Behind
/// "kind" stand "epoch", if the message has one, and the fields of its own that matter.
/// Incarnations are text because JSON readers lose bits of a 64-bit number.
void append_trace_line(std::string& out, const TraceEntry& entry, const Message& message);
std::string trace_line(const TraceEntry& entry, const Message& message);

/// What is no message. `kind` is one of
///   told by a node: start, stop, role, election_started, elected, deposed, publish, leader,
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

/// {…,"node":…,"incarnation":…,"dir":"event","kind":"publish", …} and a line break: what stands in
/// the mark, "until_ns" and "until_raw_ns" for an end on the node's own clocks.
void append_trace_event(std::string& out, const TraceMark& mark);
std::string trace_event_line(const TraceMark& mark);

/// The line of kind "start" that a node begins with: which election it takes part in and how.
void append_trace_start(std::string& out, const TraceTime& time, Incarnation incarnation,
                        const Config& config);

}  // namespace bullring::protocol
