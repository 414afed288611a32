// After a restart (PROTOCOL R6): the steps out of the silence.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void advance_recovery(Parts& node, Step& step);
/// C8.1: it is one of the founders, and nobody has shown that their list was changed, or of late a
/// list of other founders. C11.5: and its answers are of one cluster.
bool may_found(const Parts& node, Instant now);

}  // namespace bullring::protocol
