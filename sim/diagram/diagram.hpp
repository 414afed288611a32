// Space-time diagrams (Lamport 1978) of traces: the one header for those who want a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/diagram/record.hpp"
#include "sim/diagram/time_scale.hpp"

namespace bullring::sim::diagram {

enum class Theme : std::uint8_t {
    automatic,  // as the reader's browser prefers
    light,
    dark,
};

enum class DiagramFormat : std::uint8_t { svg, shiviz };

struct DiagramOptions {
    std::string title;                    // empty: what happens in the picture
    std::optional<std::int64_t> from_ns;  // from the trace's beginning; nothing: chosen
    std::optional<std::int64_t> to_ns;
    Theme theme = Theme::automatic;
    ScaleMode scale = ScaleMode::automatic;
    bool heartbeats = false;  // also heartbeats, renewals and handshakes
    DiagramFormat format = DiagramFormat::svg;
};

struct Drawing {
    std::string text;                // the file
    std::vector<std::string> notes;  // for the user: what was left out, what was assumed
};

/// Throws DiagramError when the wishes do not fit the trace.
Drawing draw(Trace trace, const DiagramOptions& options);

/// From lines in memory, with or without their ends. Throws DiagramError.
Drawing draw(const std::vector<std::string>& lines, const DiagramOptions& options);

}  // namespace bullring::sim::diagram
