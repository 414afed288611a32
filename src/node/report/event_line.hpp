// One line of an event stream (bullring-events(5)), read back. Knows what a line must have, and
// nothing of the lines around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace bullring::audit {

struct Started {
    bool quorum_none = false;
    std::vector<std::uint64_t> peers;
    std::string boot;                       // equal: ts_ns is one clock; empty: not recorded
    std::optional<std::string> cluster;     // none: not recorded
    std::optional<std::string> cluster_id;  // none: not recorded, or not known by then
};
/// The id that its cluster has is known from now on.
struct Cluster {
    std::string id;
};
struct Elected {
    std::uint64_t epoch = 0;
};
struct Deposed {
    std::uint64_t epoch = 0;
    std::string reason;
    std::int64_t held_until_ns = 0;
};
/// Whom a node follows.
struct Follows {
    std::uint64_t leader = 0;
    std::uint64_t epoch = 0;
};
/// A list of members that holds from now on.
struct Members {
    std::vector<std::uint64_t> ids;
};
/// Somebody has asked something of the node.
struct Asked {
    std::string what;
    std::string by;
    std::string credential;
    std::string from;
    std::string answer;
    std::string why;
    std::uint64_t left_out = 0;
};
struct Stopped {
    std::string reason;
};
/// So many of its events are missing before it.
struct Lost {
    std::uint64_t count = 0;
};
/// An event that says nothing of a leadership, also one that a later version may add.
struct OtherEvent {};

struct EventLine {
    std::int64_t ts_ns = 0;    // CLOCK_BOOTTIME
    std::int64_t time_ns = 0;  // the wall clock, since 1970
    std::uint64_t node = 0;
    std::variant<OtherEvent, Started, Cluster, Members, Elected, Deposed, Follows, Asked, Stopped,
                 Lost>
        what;
};

/// The error says what is wrong with the line.
tl::expected<EventLine, std::string> parse_event_line(std::string_view text);

/// Whether it may be the beginning of a line whose rest was never written.
bool is_torn(std::string_view text);

/// Where the last event in a line begins, which is behind its start if another line was cut short
/// there; 0 also if there is none.
std::size_t begin_of_last_event(std::string_view text);

/// RFC 3339, in nanoseconds since 1970.
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace bullring::audit
