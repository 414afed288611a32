// Whom this node deals with: the members of its list, and of the one that it proposes.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// Follows the lists that it knows. A member that is in none any more is forgotten.
void follow_lists(Parts& node, Step& step);

}  // namespace bullring::protocol
