// Brings the lines of several hosts onto one time.
#pragma once

#include <string>
#include <vector>

#include "sim/diagram/matching.hpp"
#include "sim/diagram/record.hpp"

namespace bullring::sim::diagram {

/// The nodes of one host share a clock, and a simulator knows the time; then this does nothing. But
/// each host counts boottime from its own start: when a message is received before it was sent, the
/// runs' clocks are shifted against each other by half the difference between the fastest message
/// there and the fastest one back, which errs by less than a message's delay. Says in a note how
/// far each node was moved.
void align_clocks(Trace& trace, const Matching& matching);

}  // namespace bullring::sim::diagram
