// Durations as people write them: a number and its unit, `250us`, `50ms`, `1.5s`, `2m`.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "protocol/time.hpp"

namespace bullring {

/// Units ns, us, ms, s, m, h; a fraction is allowed as long as it comes out in whole nanoseconds.
/// Refused: a bare number, a negative one, more than a year. The error quotes the text and says
/// what would be right. The inverse is protocol::to_text.
tl::expected<protocol::Duration, std::string> parse_duration(std::string_view text);

}  // namespace bullring
