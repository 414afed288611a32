// The picture as one SVG file without scripts and without anything from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "protocol/diagram/episodes.hpp"
#include "protocol/diagram/looks.hpp"
#include "protocol/diagram/model.hpp"
#include "protocol/diagram/time_scale.hpp"

namespace bullring::protocol::diagram {

struct SvgOptions {
    std::string title;  // empty: what happens in the picture
    Theme theme = Theme::automatic;
    ScaleMode scale = ScaleMode::automatic;
    bool heartbeats = false;  // also heartbeats, renewals and handshakes
};

std::string write_svg(const Model& model, const std::vector<Episode>& episodes, Window window,
                      const SvgOptions& options);

}  // namespace bullring::protocol::diagram
