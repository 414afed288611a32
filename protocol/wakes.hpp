// The instants at which a node has something to do, whatever it hears until then.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void collect_wakes(const Parts& node, WakeTime& wake);

}  // namespace bullring::protocol
