// Whether the sender of a HELLO is of this cluster, and whether it is taken for a member (PROTOCOL
// §3). Nothing that it says is believed before the first of the two (C12).
#pragma once

#include <optional>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// The first field that differs, of those that all nodes of one cluster have in common.
std::optional<Refused> cluster_difference(const Parts& node, const Hello& yours);
/// Why a node of this cluster is not taken for a member.
std::optional<Refused> seat_difference(const Parts& node, const HelloReceived& event, Instant now);

}  // namespace bullring::protocol
