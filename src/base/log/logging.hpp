// Owns: the program's log on stderr, written by a thread of its own, a line in one piece and
// without what a terminal would obey. A log call never waits: while nobody reads stderr the newest
// lines are kept, and the older ones are lost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/values/ids.hpp"
#include "src/base/log/log_limit.hpp"
#include "src/base/log/log_options.hpp"

namespace bullring {

/// The fields of a line in JSON, for programs; nothing is null.
using LogFields = std::vector<
    std::pair<std::string_view, std::variant<std::monostate, std::uint64_t, double, std::string>>>;

/// Once, before the first thread that logs. Until then nothing is logged.
void start_logging(const LogOptions& options, protocol::NodeId self);
/// Writes what is queued, to stderr for at most a second.
void stop_logging();

/// The library's: lines go to `handler`, and begin with the node that log_as() has named.
void start_logging_to(LogLevel level, std::function<void(LogLevel, std::string_view)> handler);
/// From now on this thread logs as this node.
void log_as(protocol::NodeId node);

bool log_enabled(LogLevel level);
/// Any thread. The fields stand in JSON alone: the text has to say the same to people.
void log(LogLevel level, std::string_view text, const LogFields& fields = {});
/// The same, within LogLimit (and says how many were left out); false when this one is. `kind` is
/// one of few. Each thread counts for itself.
bool log_limited(LogLevel level, std::string_view kind, const LogSource& source,
                 std::string_view text);

/// One line as the log has it, but for the time of day that belongs between its parts: for a
/// process that can't make it itself.
struct LogLineParts {
    std::string before_time;
    std::string after_time;
};
LogLineParts log_line_parts(LogFormat format, protocol::NodeId self, LogLevel level,
                            std::string_view text, const LogFields& fields = {});
/// One line as the log has it: for a process without the log's thread, and with something to be in
/// time for, so it is not waited for. Called by one thread.
void print_log_line(LogFormat format, protocol::NodeId self, LogLevel level, std::string_view text);
/// Before the end of a process that has printed such lines. Where nobody reads stderr they are lost
/// after a second.
void finish_log_lines();
/// For the one line that says why the program ends with status 1: straight to stderr. Where nobody
/// reads that, it is lost after a second.
void print_error(std::string_view text);
/// A command's answer, to stdout. False when that can't be written, which is said; the command then
/// ends with status 1.
bool print_answer(const std::string& text);

}  // namespace bullring
