// Which messages were which: delivered, lost or on their way, and what an election is made of as
// opposed to what never stops.
#pragma once

#include "sim/diagram/model.hpp"

namespace bullring::sim::diagram {

/// Fills arrows; needs lanes, place_of, deaths. The end of a dead process's connections becomes
/// arrows, too: what the others say that they have read.
void make_arrows(Model& model);

}  // namespace bullring::sim::diagram
