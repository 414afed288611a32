// Why a change of the list can't be made (PROTOCOL C2): for good, or now.
#pragma once

#include <optional>
#include <string>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// The reason that no waiting helps against; empty: there is none.
std::string contradiction(const Parts& node, Instant now, const MemberChange& change);
/// And that which may be gone when it is asked for again.
std::string hindrance(const Parts& node, Instant now, const MemberChange& change);
/// C11.3
std::optional<NodeId> who_cannot_follow_lists(const Parts& node);

}  // namespace bullring::protocol
