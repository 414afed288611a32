// Durations as people write them: a number and its unit, `250us`, `50ms`, `1.5s`, `2m`. Printing
// and parsing stand side by side, and are the same for the program and for the simulator.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The longest that is read: a year.
inline constexpr Duration duration_max = seconds(365LL * 24 * 3600);
inline constexpr std::string_view duration_too_long = "is too long; at most one year (8760h)";

struct NoDuration {
    std::string_view why;    // "has no unit"
    std::string_view part;   // of the text, which `why` speaks of; empty: all of it
    std::string_view right;  // what would be right; may be empty
};

/// Units ns, us, ms, s, m, h; a fraction is allowed as long as it comes out in whole nanoseconds.
/// Refused: a bare number, a negative one, more than a year. `text` must outlive the answer.
std::variant<Duration, NoDuration> parse_duration(std::string_view text);

/// "500ms", "2s", "4.5ms": the shortest exact form, in seconds at most.
std::string to_text(Duration duration);

}  // namespace bullring::protocol
