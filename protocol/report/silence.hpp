// For operators, how long a node is silent yet, and what for (PROTOCOL R6, C8).
#pragma once

#include <string>

#include "protocol/parts.hpp"

namespace bullring::protocol {

std::string why_silent(const Parts& node, Instant now);

/// Rounded up: what is not over yet never reads as nothing.
std::string time_text(Duration left);

}  // namespace bullring::protocol
