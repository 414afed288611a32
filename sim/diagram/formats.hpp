// The two kinds of files that a trace is drawn into, and what can be wished of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/diagram/episodes.hpp"
#include "sim/diagram/looks.hpp"
#include "sim/diagram/model.hpp"
#include "sim/diagram/time_scale.hpp"

namespace bullring::sim::diagram {

enum class DiagramFormat : std::uint8_t { svg, shiviz };
const char* name(DiagramFormat format);

struct DiagramOptions {
    std::string title;                    // empty: what happens in the picture
    std::optional<std::int64_t> from_ns;  // from the trace's beginning; nothing: chosen
    std::optional<std::int64_t> to_ns;
    Theme theme = Theme::automatic;
    ScaleMode scale = ScaleMode::automatic;
    bool heartbeats = false;  // also heartbeats, renewals and handshakes
    DiagramFormat format = DiagramFormat::svg;
};

/// svg.cpp: one file without scripts and without anything from elsewhere.
std::string write_svg(const Model& model, const std::vector<Episode>& episodes, Window window,
                      const DiagramOptions& options);

/// shiviz.cpp: for ShiViz, which draws and searches such diagrams itself. The first line is the
/// regular expression that reads the rest, the second the empty delimiter of executions. Then two
/// lines for each event: its node and vector clock, and what happened.
std::string write_shiviz(const Model& model, Window window, bool heartbeats);

}  // namespace bullring::sim::diagram
