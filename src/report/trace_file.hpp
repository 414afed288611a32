// The lines of `--trace FILE`: one JSON object for each message sent or received, from which a
// space-time diagram can be drawn. Owns the format only; who writes the lines is the host's
// business.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/ids.hpp"
#include "protocol/messages.hpp"
#include "protocol/time.hpp"

namespace bullring {

enum class TraceDirection : std::uint8_t { send, recv };

/// One message at one end of its session. A receipt finds its sending by (dialler, the dialler's
/// incarnation, session, index), because a session delivers in order and without gaps.
struct TraceEntry {
    protocol::Instant at;
    protocol::NodeId node;
    protocol::Incarnation incarnation;
    TraceDirection direction = TraceDirection::send;
    protocol::NodeId peer;                   // `nobody` while it is not known
    protocol::Incarnation peer_incarnation;  // 0 while it is not known
    protocol::SessionId session;             // the dialler's number for it, at both ends
    std::uint64_t index = 0;                 // 0, 1, … for each session and direction
};

/// {"ts_ns":…,"raw_ns":…,"node":…,"incarnation":"hex","dir":"send","peer":…,
/// "peer_incarnation":"hex","session":…,"index":…,"kind":"COORDINATOR", …} and a line break. Behind
/// "kind" stand "epoch", if the message has one, and the fields of its own that matter.
/// Incarnations are text because JSON readers lose bits of a 64-bit number.
std::string trace_line(const TraceEntry& entry, const protocol::Message& message);

}  // namespace bullring
