// A node without a file is told its list (PROTOCOL C8).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

bool may_be_told(const Parts& node, Index from, const Coordinator& request);
void take_told(Parts& node, Step& step, const Coordinator& request);
/// Its list is this from now on, and what its cluster is called.
void go_on_with(Parts& node, Step& step, const Membership& list, const Identity& identity);

}  // namespace bullring::protocol
