// Puts the sheet of a picture together: its size and scale, its title, the order of its layers.

#include <algorithm>

#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/svg_page.hpp"

namespace bullring::protocol::diagram {

namespace {

double spacing_for(std::size_t lanes) {
    if (lanes <= 3) return 124;
    if (lanes <= 5) return 104;
    if (lanes <= 9) return 78;
    if (lanes <= 16) return 58;
    return 40;
}

/// A second process with somebody's id has a row only while it runs.
std::vector<Place> make_rows(const Model& model, Window window) {
    std::vector<Place> rows;
    Place next = 0;
    for (Place lane = 0; lane < model.lanes.size(); ++lane) {
        const bool second = lane > 0 && model.lanes[lane - 1].node == model.lanes[lane].node;
        const Absence* gone = model.absence(lane, window.from);
        const bool away =
            gone != nullptr && gone->kind == AbsenceKind::dead && gone->to >= window.to;
        rows.push_back(second && away ? no_place : next++);
    }
    return rows;
}

Layout make_layout(const Model& model, const std::vector<Place>& rows) {
    const auto left_out = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), no_place));
    const std::size_t lanes = rows.size() - left_out;
    Layout layout;
    layout.spacing = spacing_for(lanes);
    if (!model.links.empty()) layout.top += 18;
    layout.bottom = layout.top + layout.spacing * (static_cast<double>(lanes) + 0.1);
    return layout;
}

/// The instant from which the reader wants to count: the cause of what is shown, if it can be seen.
std::int64_t choose_zero(const std::vector<Episode>& episodes, Window window) {
    for (const Episode& episode : episodes) {
        if (episode.cause >= window.from && episode.cause <= window.to &&
            episode.end > window.from) {
            return episode.cause;
        }
    }
    return window.from;
}

TimeScale make_scale(const Model& model, const SvgOptions& options, Window window,
                     const Layout& layout) {
    ScaleWish wish;
    wish.from = window.from;
    wish.to = window.to;
    wish.left = layout.left;
    wish.right = layout.right;
    wish.mode = options.scale;
    const auto add = [&](std::int64_t at) {
        if (at >= window.from && at <= window.to) wish.instants.push_back(at);
    };
    for (const Arrow& arrow : model.arrows) {
        const Weight weight = look_of(arrow.look).weight;
        if (weight == Weight::background) continue;
        add(arrow.sent);
        add(arrow.received);
        const bool seen = arrow.sent >= window.from && arrow.received <= window.to;
        if (seen && arrow.fate == Fate::delivered && weight == Weight::strong) {
            wish.flights.push_back(arrow.received - arrow.sent);
        }
    }
    for (const Mark& mark : model.marks) {
        const bool of_a_peer = mark.shape == MarkShape::suspicion ||
                               mark.shape == MarkShape::trust || mark.shape == MarkShape::follows;
        if (!of_a_peer) {
            add(mark.at);
        } else if (mark.at >= window.from && mark.at <= window.to) {
            wish.marks.push_back(mark.at);
        }
    }
    for (const LinkChange& link : model.links) add(link.at);
    for (const Lane& lane : model.lanes) {
        for (const LeaseBar& lease : lane.leases) {
            add(lease.to);
        }
        for (const Absence& absence : lane.absences) {
            add(absence.from);
            add(absence.to);
        }
    }
    return TimeScale(std::move(wish));
}

std::string default_title(const Page& page) {
    const Model& model = page.model;
    std::string title;
    if (!model.trace.algorithm.empty()) {
        title = model.trace.algorithm;
        if (title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
        if (model.trace.quorum == "none") title += " without a quorum";
        title += ", ";
    }
    const std::size_t members = model.trace.members.size();
    const std::size_t nodes = members == 0 ? model.lanes.size() : members;
    title += formatted("{} node{}", nodes, nodes == 1 ? "" : "s");
    const std::string story = headline(model, page.episodes, page.window);
    return story.empty() ? title : title + ": " + story;
}

std::string subtitle(const Page& page) {
    const Model& model = page.model;
    std::string text = formatted("{} of the trace, from {} on",
                                 rounded_duration(page.window.to - page.window.from),
                                 rounded_duration(page.window.from - model.begin));
    if (page.scale.folded()) text += ", quiet stretches folded";
    if (!page.options.heartbeats) text += "; heartbeats and renewals not shown";
    return text;
}

std::string pattern() {
    return "<pattern id=\"hatching\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
           "patternTransform=\"rotate(45)\">"
           "<line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\"/></pattern>\n";
}

}  // namespace

Page::Page(const Model& model_drawn, const std::vector<Episode>& episodes_found,
           const SvgOptions& options_given, Window window_chosen)
    : model(model_drawn),
      episodes(episodes_found),
      options(options_given),
      window(window_chosen),
      zero(choose_zero(episodes_found, window_chosen)),
      rows(make_rows(model_drawn, window_chosen)),
      layout(make_layout(model_drawn, rows)),
      scale(make_scale(model_drawn, options_given, window_chosen, layout)),
      labels({layout.left - 4, layout.top - 40, layout.right + 4, layout.bottom + 4}) {
    std::vector<std::string> names;
    names.reserve(model.lanes.size());
    for (const Lane& lane : model.lanes) names.push_back(lane.name);
    const auto events = vector_clocks(model.trace.records, model.matching,
                                      select_records(model, window, options.heartbeats),
                                      model.place_of, model.lanes.size());
    for (const ClockedEvent& event : events) clocks[event.record] = clock_text(event.clock, names);
}

std::int64_t Page::clamp(std::int64_t at) const { return std::clamp(at, window.from, window.to); }

bool Page::draws(const Arrow& arrow) const {
    if (!options.heartbeats && look_of(arrow.look).weight == Weight::background) return false;
    if (!has_row(arrow.from) || !has_row(arrow.to)) return false;
    return shows(arrow.sent, arrow.received);
}

std::string write_svg(const Model& model, const std::vector<Episode>& episodes, Window window,
                      const SvgOptions& options) {
    Page page(model, episodes, options, window);
    draw_axis(page);
    draw_lanes(page);
    draw_bars(page);
    draw_episodes(page);
    draw_links(page);
    draw_marks(page);
    draw_arrows(page);
    const Legend legend = make_legend(page, page.layout.bottom + 62);
    const double height = legend.bottom + 14;
    const std::string title = options.title.empty() ? default_title(page) : options.title;
    const Layout& layout = page.layout;

    std::string out = formatted(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n",
        num(layout.width), num(height), xml(title));
    out += "<style>\n" + style_sheet(options.theme, page.looks_used) + "</style>\n";
    out += "<defs>\n" + pattern();
    // Lines that leave the window end at its edge.
    out += formatted(
        "<clipPath id=\"window\"><rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\"/>"
        "</clipPath>\n</defs>\n",
        num(layout.left - 1), num(layout.right - layout.left + 2), num(height));
    out += rect("paper", 0, 0, layout.width, height);
    out += text_at("title", 16, 28, title);
    out += text_at("pale", 16, 47, subtitle(page));
    out += "<g clip-path=\"url(#window)\">\n" + page.bands + "</g>\n" + page.grid;
    out += "<g clip-path=\"url(#window)\">\n" + page.lanes + page.bars + page.faint + page.arrows +
           "</g>\n";
    out += page.folds + page.marks + page.texts + legend.elements + "</svg>\n";
    return out;
}

}  // namespace bullring::protocol::diagram
