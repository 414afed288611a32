#include "sim/diagram/diagram.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "protocol/diagram/episodes.hpp"
#include "protocol/diagram/model.hpp"
#include "protocol/diagram/words.hpp"
#include "protocol/values/names.hpp"

namespace bullring::sim::diagram {

namespace {

Window wanted_window(const Model& model, const std::vector<Episode>& episodes,
                     const DiagramOptions& options, std::vector<std::string>& notes) {
    Window window = choose_window(model, episodes);
    const bool chosen = !options.from_ns && !options.to_ns;
    if (!chosen) {
        const auto at = [&](std::int64_t from_begin) {
            return model.begin + std::clamp<std::int64_t>(from_begin, 0, 4 * trace_time_max);
        };
        window.from = options.from_ns ? at(*options.from_ns) : model.begin;
        window.to = options.to_ns ? at(*options.to_ns) : model.end;
    }
    const std::string length = rounded_duration(model.end - model.begin);
    if (window.from > model.end) {
        throw DiagramError(fmt::format("--from is behind the trace's end: it lasts {}", length));
    }
    window.to = std::min(window.to, model.end);
    window.from = std::max(window.from, model.begin);
    if (window.to <= window.from && model.end > model.begin) {
        throw DiagramError("--to must be later than --from");
    }
    if (chosen && (window.from > model.begin || window.to < model.end)) {
        notes.push_back(
            fmt::format("drawn: {} from {} on, of {}; --from and --to choose another part",
                        rounded_duration(window.to - window.from),
                        rounded_duration(window.from - model.begin), length));
        for (const Episode& episode : episodes) {
            if (episode.end >= window.from && episode.cause <= window.to) continue;
            notes.push_back(fmt::format(
                "not drawn: at {}, {}{}", rounded_duration(episode.cause - model.begin),
                episode.why.empty() ? "the first election" : episode.why,
                episode.winner ? ", " + model.node_name(*episode.winner) + " is elected" : ""));
        }
    }
    return window;
}

}  // namespace

const char* name(DiagramFormat format) {
    switch (format) {
        case DiagramFormat::svg: return "svg";
        case DiagramFormat::shiviz: return "shiviz";
    }
    return protocol::no_name;
}

Drawing draw(Trace trace, const DiagramOptions& options) {
    const Model model = make_model(std::move(trace));
    const std::vector<Episode> episodes = find_episodes(model);
    Drawing drawing;
    drawing.notes = model.trace.notes;
    const Window window = wanted_window(model, episodes, options, drawing.notes);
    drawing.text = options.format == DiagramFormat::shiviz
                       ? write_shiviz(model, window, options.heartbeats)
                       : write_svg(model, episodes, window, options);
    return drawing;
}

Drawing draw(const std::vector<std::string>& lines, const DiagramOptions& options) {
    TraceReader reader;
    std::size_t number = 0;
    for (const std::string& line : lines) reader.add_line(line, fmt::format("line {}", ++number));
    return draw(reader.take(), options);
}

}  // namespace bullring::sim::diagram
