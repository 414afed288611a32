// The sheet of paper that the parts of a picture are drawn on: where the lanes are, what lies above
// what, which places are taken, what the legend has to explain. Used by svg*.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "protocol/diagram/episodes.hpp"
#include "protocol/diagram/model.hpp"
#include "protocol/diagram/picture.hpp"
#include "protocol/diagram/svg_text.hpp"
#include "protocol/diagram/time_scale.hpp"

namespace bullring::protocol::diagram {

/// The symbols that the legend explains besides the messages, in its order.
enum class Symbol : std::uint8_t {
    lease,
    ghost,
    candidate,
    stepping_down,
    elected,
    election_started,
    deposed,
    suspicion,
    death,
    start,
    paused,
    silent,
    lost,
    cut,
    election_band,
    nobody_band,
    fold,
};

struct Layout {
    double width = 1200;
    double left = 108;
    double right = 1090;
    double top = 92;       // of the lanes' area
    double bottom = 0;     // of the lanes' area
    double spacing = 100;  // between lanes
};

struct Page {
    Page(const Model& model, const std::vector<Episode>& episodes, const SvgOptions& options,
         Window window);

    double y(Place lane) const {
        return layout.top + layout.spacing * (static_cast<double>(rows[lane]) + 0.55);
    }
    bool has_row(Place lane) const { return rows[lane] != no_place; }
    double x(std::int64_t at) const { return scale.x(at); }
    bool shows(std::int64_t at) const { return window.from <= at && at <= window.to; }
    bool shows(std::int64_t from, std::int64_t to) const {
        return from <= window.to && to >= window.from;
    }
    /// Inside the window.
    std::int64_t clamp(std::int64_t at) const;
    bool draws(const Arrow& arrow) const;

    const Model& model;
    const std::vector<Episode>& episodes;
    const SvgOptions& options;
    Window window;
    std::int64_t zero = 0;    // where the axis has its 0
    std::vector<Place> rows;  // by lane, from the top; `no_place` for one that is left out
    Layout layout;
    TimeScale scale;
    Labels labels;
    std::set<Look> looks_used;
    std::set<Symbol> symbols;
    std::map<std::size_t, std::string> clocks;  // by record, for tooltips

    // Layers, from the back to the front.
    std::string bands;
    std::string grid;
    std::string lanes;
    std::string bars;
    std::string faint;
    std::string arrows;
    std::string folds;
    std::string marks;
    std::string texts;
};

// In this order: what comes first finds the best places for its texts.
void draw_axis(Page& page);
void draw_episodes(Page& page);
void draw_links(Page& page);
void draw_lanes(Page& page);
void draw_bars(Page& page);
void draw_marks(Page& page);
void draw_arrows(Page& page);

/// A mark around this point.
std::string shape_at(MarkShape shape, double x, double y);

inline constexpr double sample_width = 34;
/// An arrow from (0, 0) to (sample_width, 0).
std::string arrow_sample(Look look);

struct Legend {
    std::string elements;
    double bottom = 0;
};
Legend make_legend(const Page& page, double top);

}  // namespace bullring::protocol::diagram
