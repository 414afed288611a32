// A leader gives way to a better one that has been there for long enough (PROTOCOL §9).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void consider_preemption(Parts& node, Step& step);

}  // namespace bullring::protocol
