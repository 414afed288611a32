// A trace: one record a line (protocol/trace/trace.hpp), and the reader of its files. Owns what a
// line must have and what is said when it has not. Must not judge what the lines tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bullring::sim::diagram {

/// Something about the traces or the wishes that makes a picture impossible; for a user's eyes.
class DiagramError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

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

class TraceReader {
public:
    /// A whole file; `name` is its name in errors. A last line without its end, and the beginning
    /// of a line that a killed process could not finish, are passed over with a note; anything else
    /// that is no line of a trace throws DiagramError ("FILE:LINE: what is wrong").
    void add_file(std::string_view text, const std::string& name);
    /// One line, with or without its end.
    void add_line(std::string_view line, const std::string& where);

    /// Throws DiagramError when there is nothing in it.
    Trace take();

private:
    void read_line(std::string_view line, const std::string& where);
    void read_start(const nlohmann::ordered_json& line, const std::string& where);

    Trace trace_;
    std::map<std::string, std::string> first_lines_;  // and the files that begin with them
    bool without_true_time_ = false;                  // a line has been read that has none
};

}  // namespace bullring::sim::diagram
