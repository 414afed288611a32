// The members as their leader sees them now, for the changer (PROTOCOL C2.2).
#pragma once

#include "protocol/membership/changer.hpp"
#include "protocol/parts.hpp"

namespace bullring::protocol {

/// C11.8: a member that can't follow lists that change.
std::optional<NodeId> left_behind(const Parts& node);
/// The change, as this leader would make it now.
Changed changed_now(const Parts& node, Instant now, const MemberChange& change, Tag tag);

}  // namespace bullring::protocol
