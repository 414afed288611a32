// Reports changes to the host and its users: peers, the leader, the end of a stop.
#pragma once

#include <string_view>

#include "protocol/parts.hpp"

namespace bullring::protocol {

void report_peers(Parts& node, Step& step);
void report_leader(Parts& node, Step& step);
void report_stop(Parts& node, Step& step);

/// The leader that users may rely on.
LeaderView user_leader(const Parts& node, Instant now);
std::string_view advertised_by(const Parts& node, NodeId leader);

}  // namespace bullring::protocol
