// The answer to an operator: the view, and in one sentence why a node is what it is.
#pragma once

#include "protocol/parts.hpp"
#include "protocol/values/view.hpp"

namespace bullring::protocol {

View view_of(const Parts& node, Instant now, const HostReasons& reasons);

}  // namespace bullring::protocol
