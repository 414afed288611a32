// The two kinds of files that a trace is drawn into, and what can be wished of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/diagram/episodes.hpp"
#include "protocol/diagram/model.hpp"
#include "protocol/diagram/picture.hpp"

namespace bullring::sim::diagram {

using namespace protocol::diagram;

enum class DiagramFormat : std::uint8_t { svg, shiviz };
const char* name(DiagramFormat format);

struct DiagramOptions : SvgOptions {
    std::optional<std::int64_t> from_ns;  // from the trace's beginning; nothing: chosen
    std::optional<std::int64_t> to_ns;
    DiagramFormat format = DiagramFormat::svg;
};

/// shiviz.cpp: for ShiViz, which draws and searches such diagrams itself. The first line is the
/// regular expression that reads the rest, the second the empty delimiter of executions. Then two
/// lines for each event: its node and vector clock, and what happened.
std::string write_shiviz(const Model& model, Window window, bool heartbeats);

}  // namespace bullring::sim::diagram
