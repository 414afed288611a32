// A second cluster beside a small world: of another name, with the same ids, and a list of members
// that is newer than any of the first one.
#pragma once

#include "protocol/values/config.hpp"
#include "protocol/values/events.hpp"
#include "sim/explore/move.hpp"

namespace bullring::sim::explore {

/// Of that list.
inline constexpr protocol::Tag tag_of_neighbours{{std::uint64_t{1} << 50U}, 1};

/// Its node `dial.acceptor` greets the node `dial.dialler` of the first, of that configuration, on
/// a connection that only the answer goes back on, to nobody here.
protocol::HelloReceived greeting(const protocol::Config& greeted, const SessionName& dial);

}  // namespace bullring::sim::explore
