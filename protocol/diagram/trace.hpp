// A trace as what a picture is made of: one record for each line of protocol/trace/trace.hpp, with
// what can be drawn of it. Must not judge what the records say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bullring::protocol::diagram {

/// No time in a trace is further from 0 (nine years), so that times can be added and multiplied.
inline constexpr std::int64_t trace_time_max = INT64_MAX / 32;

enum class RecordKind : std::uint8_t { send, recv, event };

/// Numbers that a line does not have are 0.
struct TraceRecord {
    /// True time where the trace has it, else the host's boottime. Aligning may move it.
    std::int64_t t_ns = 0;
    RecordKind what = RecordKind::event;
    std::string kind;  // "COORDINATOR", "elected", …
    std::uint64_t node = 0;
    std::uint64_t incarnation = 0;

    // A message's.
    std::uint64_t peer = 0;  // cut and heal have one, too
    std::uint64_t peer_incarnation = 0;
    std::uint64_t session = 0;
    std::uint64_t index = 0;
    std::uint64_t body = 0;  // a hash of kind and fields, the same at both ends
    bool renew = false;
    std::uint64_t owner = 0;  // of a token
    std::uint64_t round = 0;
    std::uint64_t step = 0;

    // An event's; `epoch` a message's, too.
    std::uint64_t epoch = 0;
    std::uint64_t leader = 0;
    std::uint64_t grants = 0;
    std::string word;                           // role or reason
    std::string detail;                         // all fields, for a tooltip; empty for heartbeats
    std::optional<std::int64_t> lease_left_ns;  // publish: how long from here
};

/// All lines of all files, in the order in which they were read.
struct Trace {
    std::vector<TraceRecord> records;
    bool true_time = false;         // of a simulator
    std::string algorithm;          // empty while no line says it
    std::string quorum;             // "majority", "none" or empty
    std::int64_t heartbeat_ns = 0;  // the longest of all nodes, 0 while no line says it
    std::vector<std::uint64_t> members;
    std::vector<std::string> notes;  // what was passed over, and why
};

}  // namespace bullring::protocol::diagram
