// Which part of a trace a picture or an export is about.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/diagram/episodes.hpp"
#include "sim/diagram/model.hpp"

namespace bullring::sim::diagram {

/// The records in the window, in order; heartbeats, renewals and handshakes only when wished.
std::vector<std::size_t> select_records(const Model& model, Window window, bool heartbeats);

}  // namespace bullring::sim::diagram
