// Lamport's "happened before", as vector clocks (Fidge, Mattern 1988), derived from what the nodes
// wrote about themselves: no message carries them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/diagram/matching.hpp"
#include "sim/diagram/record.hpp"

namespace bullring::sim::diagram {

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

}  // namespace bullring::sim::diagram
