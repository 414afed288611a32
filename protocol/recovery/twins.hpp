// Another process with this node's id (PROTOCOL R6.14 to R6.16): the silence of a node that learns
// of it.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// A peer hears another process that has this node's id.
void told_of_twin(Parts& node, Step& step, Peer& by);
/// Now it takes this one.
void taken_after_twin(const Parts& node, Peer& by, Instant now);

}  // namespace bullring::protocol
