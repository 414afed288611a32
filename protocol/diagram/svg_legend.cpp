// The legend: what appears in the picture, and nothing else.
#include <map>
#include <utility>

#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/svg_page.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr double row_height = 20;
constexpr std::size_t columns = 3;

struct Entry {
    std::string sample;  // drawn around (0, 0) … (sample_width, 0)
    std::string name;
    std::string meaning;
};

std::string bar_sample(const char* css, double half) {
    return rect(css, 2, -half, sample_width - 2, half, 2);
}

Entry entry_of(Symbol symbol, bool textbook) {
    constexpr double middle = sample_width / 2;
    const std::string hatched = bar_sample("absent", 7) +
                                "<rect x=\"2\" y=\"-7\" width=\"30\" height=\"14\" "
                                "fill=\"url(#hatching)\"/>\n";
    switch (symbol) {
        case Symbol::lease:
            if (textbook) return {bar_sample("lease", 7), "leads", "or believes that it does"};
            return {bar_sample("lease", 7), "lease", "this node leads, and nobody else can"};
        case Symbol::ghost:
            return {bar_sample("ghost", 7), "rest of a lease", "its holder died before it ran out"};
        case Symbol::candidate: return {bar_sample("stands", 5), "candidate", "asks for promises"};
        case Symbol::stepping_down:
            return {bar_sample("ends", 5), "stepping down", "its task is ending"};
        case Symbol::elected:
            return {path("star", formatted("M{0} -8L{1} -2.5L{2} -2.5L{3} 1.5L{4} 7.5L{0} 4L{5} "
                                           "7.5L{6} 1.5L{7} -2.5L{8} -2.5Z",
                                           num(middle), num(middle + 2), num(middle + 8),
                                           num(middle + 3), num(middle + 5), num(middle - 5),
                                           num(middle - 3), num(middle - 8), num(middle - 2))),
                    "elected", textbook ? "nobody higher is there" : "a majority has promised"};
        case Symbol::election_started:
            return {circle("begins", middle, 0, 6), "starts an election", ""};
        case Symbol::deposed:
            return {path("deposed", formatted("M{} -5L{} -5L{} 7Z", num(middle - 7),
                                              num(middle + 7), num(middle))),
                    "gives up", "and stops acting as the leader first"};
        case Symbol::suspicion:
            return {path("doubt", formatted("M{0} -6L{1} 0L{0} 6L{2} 0Z", num(middle),
                                            num(middle + 6), num(middle - 6))),
                    "suspicion", "a peer is not heard any more"};
        case Symbol::death:
            return {path("death",
                         formatted("M{0} -6L{1} 6M{0} 6L{1} -6", num(middle - 6), num(middle + 6))),
                    "the process ends", ""};
        case Symbol::start:
            return {path("start", formatted("M{} -6L{} 0L{} 6Z", num(middle - 4), num(middle + 5),
                                            num(middle - 4))),
                    "a process starts", ""};
        case Symbol::paused: return {hatched, "stands still", "neither reads nor acts"};
        case Symbol::silent: return {hatched, "silent", "wrote nothing for several heartbeats"};
        case Symbol::lost:
            return {path("death",
                         formatted("M{0} -3L{1} 3M{0} 3L{1} -3", num(middle - 3), num(middle + 3))),
                    "lost", "a message that never arrived"};
        case Symbol::cut:
            return {line("cut", 0, 0, sample_width, 0), "cut, healed", "links between these nodes"};
        case Symbol::election_band:
            return {bar_sample("election", 8), "election", "from the first reaction to the winner"};
        case Symbol::nobody_band:
            return {bar_sample("nobody", 8), "no leader", "nobody reacts yet"};
        case Symbol::fold:
            return {path("zigzag", "M10 -8L13 -4L8 0L13 4L8 8M24 -8L27 -4L22 0L27 4L22 8"),
                    "folded", "so much time in which nothing happens"};
    }
    return {};
}

std::vector<Entry> entries(const Page& page) {
    std::vector<Entry> found;
    std::map<std::string, bool> said;
    for (const Look look : page.looks_used) {
        const LookOf& is = look_of(look);
        if (!said.try_emplace(is.name, true).second) continue;
        found.push_back({arrow_sample(look), is.name, is.meaning});
    }
    const bool textbook = page.model.trace.quorum == "none";
    for (const Symbol symbol : page.symbols) found.push_back(entry_of(symbol, textbook));
    return found;
}

}  // namespace

std::string arrow_sample(Look look) {
    const LookOf& is = look_of(look);
    std::string elements = path("s", formatted("M0 0L{} 0", num(sample_width)));
    if (is.weight != Weight::background) {
        elements += path(
            "h", formatted("M{0} 0L{1} 3.2L{1} -3.2Z", num(sample_width), num(sample_width - 8)));
    }
    const char* weight = is.weight == Weight::strong ? "m"
                         : is.weight == Weight::thin ? "m thin"
                                                     : "back";
    return formatted("<g class=\"{} l-{}\">{}</g>\n", weight, is.css, elements);
}

Legend make_legend(const Page& page, double top) {
    const std::vector<Entry> all = entries(page);
    const std::size_t rows = (all.size() + columns - 1) / columns;
    const double column_width = (page.layout.width - 32) / static_cast<double>(columns);
    Legend legend;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double x = 16 + column_width * static_cast<double>(rows == 0 ? 0 : i / rows);
        const double y = top + row_height * (static_cast<double>(i % rows) + 0.5);
        legend.elements +=
            formatted("<g transform=\"translate({} {})\">\n{}", num(x), num(y), all[i].sample);
        legend.elements += formatted(
            "<text x=\"{}\" y=\"4\"><tspan class=\"strong\">{}</tspan>{}{}</text>\n</g>\n",
            num(sample_width + 8), xml(all[i].name), all[i].meaning.empty() ? "" : "  ",
            xml(all[i].meaning));
    }
    legend.bottom = top + row_height * static_cast<double>(rows);
    return legend;
}

}  // namespace bullring::protocol::diagram
