// A leader's part in the id of the cluster (PROTOCOL C11.1 to C11.3): it finds the one that there
// is or draws one, and settles it.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void manage_identity(Parts& node, Step& step);
/// C11.8: a list is built on one whose voters have it, so that those of the next one find it.
bool identity_is_awaited(const Parts& node);
Identity identity_to_tell(const Parts& node);
/// That is on the disk of that voter.
void on_identity_told(Parts& node, Step& step, Index voter, const Identity& has);

}  // namespace bullring::protocol
