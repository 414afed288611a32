// The faults that a node lets happen to itself when `bullring drill` asks for them. None, unless it
// was started with --allow-drill, and only to the leadership that is named: a request that comes
// late must not hit a cluster that is without a leader already.
#pragma once

#include "protocol/values/view.hpp"
#include "src/node/net/transport.hpp"
#include "src/node/observers/observer_sessions.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

/// How long a node is away that hangs or is cut off: the others have to elect another one without
/// its help, and have as long for that as a drill waits at most.
constexpr protocol::Duration drill_absence(protocol::Duration lease) { return lease * 3; }

ObserverSessions::DrillAnswer answer_drill(const Drill& what, const NodeOptions& options,
                                           const protocol::View& now, Transport& transport);

}  // namespace bullring
