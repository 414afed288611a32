// The invariants of every node after every step; a process that finds one broken stops at once.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void check_invariants(const Parts& node, Instant now);

}  // namespace bullring::protocol
