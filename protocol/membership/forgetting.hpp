// Members without a vote that are gone (PROTOCOL C9): instances that were scaled in, or have died.
// Their leader takes them out of the list, which no majority depends on.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// The change that removes one of them; one that is under way is dropped when its member is back.
void forget_who_is_gone(Parts& node, Instant now);
void tell_who_is_forgotten(const Parts& node, Step& step, NodeId member);
void collect_forgetting(const Parts& node, WakeTime& wake);

}  // namespace bullring::protocol
