// The lines of a trace: one JSON object for each message sent or received, and for each thing that
// happens to a node, from which a space-time diagram can be drawn. Owns the format, which real and
// simulated nodes share; who writes the lines is the host's business. Must never be read by the
// protocol itself.
#pragma once

#include <string>

#include "protocol/trace/trace_item.hpp"
#include "protocol/values/config.hpp"

namespace bullring::protocol {

/// {"ts_ns":…,"raw_ns":…,"node":…,"incarnation":"hex","dir":"send","peer":…,
/// "peer_incarnation":"hex","session":…,"index":…,"kind":"COORDINATOR", …} and a line break. Behind
/// "kind" stand "epoch", if the message has one, and the fields of its own that matter.
/// Incarnations are text because JSON readers lose bits of a 64-bit number.
void append_trace_line(std::string& out, const TraceEntry& entry, const Message& message);
std::string trace_line(const TraceEntry& entry, const Message& message);

/// {…,"node":…,"incarnation":…,"dir":"event","kind":"publish", …} and a line break: what stands in
/// the mark, "until_ns" and "until_raw_ns" for an end on the node's own clocks.
void append_trace_event(std::string& out, const TraceMark& mark);
std::string trace_event_line(const TraceMark& mark);

/// The line of kind "start" that a node begins with: which election it takes part in and how.
void append_trace_start(std::string& out, const TraceTime& time, Incarnation incarnation,
                        const Config& config);

}  // namespace bullring::protocol
