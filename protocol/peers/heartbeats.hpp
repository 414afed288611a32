// Heartbeats to the other members (PROTOCOL §6): what they say, when they are due, and to whom.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// This node's own state, as it reports it now.
Heartbeat heartbeat(const Parts& node, Instant now);
void send_heartbeats(Parts& node, Step& step);
/// A renewal with its heartbeat goes to all.
void heartbeat_told_by_renewal(Parts& node, Instant now);
/// A grant goes to the leader with one.
void heartbeat_told_by_grant(Parts& node, Instant now);

}  // namespace bullring::protocol
