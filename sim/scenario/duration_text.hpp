// "200us", "1.5s": durations as scenario files and the command line write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/world/types.hpp"

namespace bullring::sim {

/// As the program reads them: digits with a fraction, and ns, us, ms, s, m or h.
std::optional<Time> parse_duration(std::string_view text);

/// The exact form in the largest unit that is not longer, seconds at most: "1.923677539s".
std::string duration_text(Time duration);

/// For people, where nobody reads it back: three decimals at most, "1.924s".
std::string rounded_text(Time duration);

}  // namespace bullring::sim
