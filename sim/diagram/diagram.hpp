// Space-time diagrams (Lamport 1978) of traces: the one header for those who want a picture.
#pragma once

#include <string>
#include <vector>

#include "sim/diagram/formats.hpp"
#include "sim/diagram/trace_reader.hpp"

namespace bullring::sim::diagram {

struct Drawing {
    std::string text;                // the file
    std::vector<std::string> notes;  // for the user: what was left out, what was assumed
};

/// Throws DiagramError when the wishes do not fit the trace.
Drawing draw(Trace trace, const DiagramOptions& options);

/// From lines in memory, with or without their ends. Throws DiagramError.
Drawing draw(const std::vector<std::string>& lines, const DiagramOptions& options);

}  // namespace bullring::sim::diagram
