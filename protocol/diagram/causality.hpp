// Derives from the messages of a trace which sending each receipt belongs to, how far the hosts'
// clocks are apart, and which event happened before which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/diagram/trace.hpp"

namespace bullring::protocol::diagram {

inline constexpr std::size_t no_record = static_cast<std::size_t>(-1);

struct Matching {
    /// By record: its other end, or `no_record`.
    std::vector<std::size_t> partner;
    /// By record: a sending whose place in the queue a newer one took; it was never on the wire.
    std::vector<bool> superseded;
};

/// A session is FIFO without gaps, so (dialler, its incarnation, session, direction, index) names a
/// message. The one exception is a sender that replaces an HB or COORDINATOR that still waits: from
/// then on its indices run ahead, which shows in the contents. Looks at no time.
Matching match(const std::vector<TraceRecord>& records);

/// The nodes of one host share a clock, and a simulator knows the time; then this does nothing. But
/// each host counts boottime from its own start: when a message is received before it was sent, the
/// runs' clocks are shifted against each other by half the difference between the fastest message
/// there and the fastest one back, which errs by less than a message's delay. Says in a note how
/// far each node was moved.
void align_clocks(Trace& trace, const Matching& matching);

/// Where an event happens: a small number for each line of the picture.
using Place = std::size_t;

struct ClockedEvent {
    std::size_t record = 0;
    Place place = 0;
    std::vector<std::uint32_t> clock;  // by place; at its own place 1, 2, 3, …
};

/// The clocks of the events that are chosen, counted among these alone, in an order in which each
/// event stands behind all that happened before it. `chosen` is in the order of time; `place_of` is
/// by record. Each event counts one at its own place, and a receipt takes over what its sending
/// knew.
std::vector<ClockedEvent> vector_clocks(const std::vector<TraceRecord>& records,
                                        const Matching& matching,
                                        const std::vector<std::size_t>& chosen,
                                        const std::vector<Place>& place_of, std::size_t places);

/// "2:14 4:33": what is not 0, by the places' names.
std::string clock_text(const std::vector<std::uint32_t>& clock,
                       const std::vector<std::string>& names);

}  // namespace bullring::protocol::diagram
