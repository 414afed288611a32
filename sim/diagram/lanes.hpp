// Which line of the picture each run of a process belongs to, and when nothing ran there.
#pragma once

#include "sim/diagram/model.hpp"

namespace bullring::sim::diagram {

/// Fills lanes (but not their bars), place_of, deaths. A simulator says when a process dies or
/// stands still. Of a real one only its silence tells, and the others' word that they have read the
/// end of its connections.
void make_lanes(Model& model);

}  // namespace bullring::sim::diagram
