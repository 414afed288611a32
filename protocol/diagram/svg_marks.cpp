// The marks on the lanes, and their texts.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/svg_page.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr double near = 5;  // marks this close to each other share one text
constexpr double line_height = 12.5;

std::string star(double x, double y) {
    constexpr double outer = 9;
    constexpr double inner = 3.8;
    constexpr double pi = 3.14159265358979;
    std::string d;
    for (int i = 0; i < 10; ++i) {
        const double radius = i % 2 == 0 ? outer : inner;
        const double angle = pi * (static_cast<double>(i) / 5 - 0.5);
        d += formatted("{}{} {}", i == 0 ? "M" : "L", num(x + radius * std::cos(angle)),
                       num(y + radius * std::sin(angle)));
    }
    return path("star", d + "Z");
}

/// The marks of one lane that stand at nearly the same place.
struct Group {
    Place lane = 0;
    double x = 0;
    std::vector<const Mark*> marks;
};

int importance(MarkShape shape) {
    switch (shape) {
        case MarkShape::death: return 8;
        case MarkShape::elected: return 7;
        case MarkShape::deposed: return 6;
        case MarkShape::election: return 5;
        case MarkShape::start: return 4;
        case MarkShape::suspicion: return 3;
        case MarkShape::other: return 3;
        case MarkShape::follows: return 2;
        case MarkShape::trust: return 1;
    }
    return 0;
}

const Mark& chief(const Group& group) {
    return **std::max_element(
        group.marks.begin(), group.marks.end(),
        [](const Mark* a, const Mark* b) { return importance(a->shape) < importance(b->shape); });
}

std::optional<Symbol> symbol_of(MarkShape shape) {
    switch (shape) {
        case MarkShape::death: return Symbol::death;
        case MarkShape::start: return Symbol::start;
        case MarkShape::suspicion: return Symbol::suspicion;
        case MarkShape::deposed: return Symbol::deposed;
        case MarkShape::election: return Symbol::election_started;
        case MarkShape::elected: return Symbol::elected;
        case MarkShape::trust:
        case MarkShape::follows:
        case MarkShape::other: return std::nullopt;
    }
    return std::nullopt;
}

std::vector<Group> group_marks(const Page& page) {
    std::vector<Group> groups;
    std::map<Place, std::size_t> open;  // by lane: its last group
    for (const Mark& mark : page.model.marks) {
        if (!page.shows(mark.at) || !page.has_row(mark.lane)) continue;
        const double x = page.x(mark.at);
        const auto last = open.find(mark.lane);
        if (last != open.end() && x - groups[last->second].x < near) {
            groups[last->second].marks.push_back(&mark);
        } else {
            open[mark.lane] = groups.size();
            groups.push_back({mark.lane, x, {&mark}});
        }
    }
    return groups;
}

struct Line {
    std::string text;
    bool strong = false;
    bool bad = false;
};

/// One line for each thing that is said; several peers with the same fate share one.
std::vector<Line> lines_of(const Group& group) {
    std::vector<Line> lines;
    std::map<std::string, std::vector<std::uint64_t>> peers;  // by what is said of them
    const int top = importance(chief(group).shape);
    for (const Mark* mark : group.marks) {
        const bool of_peer = mark->shape == MarkShape::suspicion || mark->shape == MarkShape::trust;
        if (of_peer) {
            if (mark->shape == MarkShape::trust && top > importance(MarkShape::trust)) continue;
            peers[mark->label].push_back(mark->about);
            continue;
        }
        // That there is no leader then goes without saying.
        const bool lost = mark->shape == MarkShape::follows && mark->about == 0;
        if (lost && top > importance(MarkShape::follows)) continue;
        const bool said = std::any_of(lines.begin(), lines.end(),
                                      [&](const Line& one) { return one.text == mark->label; });
        const bool death = mark->shape == MarkShape::death;
        if (!said)
            lines.push_back({mark->label, death || mark->shape == MarkShape::elected, death});
    }
    for (auto& [said, nodes] : peers) {
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        lines.insert(lines.begin(), {list_text(nodes) + " " + said, false, false});
    }
    return lines;
}

void draw_shape(Page& page, const Group& group) {
    const Mark& mark = chief(group);
    std::string tip;
    for (const Mark* one : group.marks) {
        if (!tip.empty()) tip += '\n';
        tip += formatted("{} ms  {}", fixed(static_cast<double>(one->at - page.zero) / 1e6, 3),
                         one->tip);
        if (const auto symbol = symbol_of(one->shape)) {
            if (one == &mark) page.symbols.insert(*symbol);
        }
    }
    const double y = page.y(group.lane);
    page.marks += with_tip("", tip, shape_at(mark.shape, group.x, y));
    page.labels.take({group.x - 7, y - 9, group.x + 7, y + 9});
}

void place_text(Page& page, const Group& group) {
    const std::vector<Line> lines = lines_of(group);
    if (lines.empty()) return;
    double width = 0;
    for (const Line& one : lines) width = std::max(width, text_width(one.text, 11, one.strong) + 4);
    const double height = line_height * static_cast<double>(lines.size());
    const double y = page.y(group.lane);
    std::vector<Box> wishes;
    const double reach = page.layout.spacing * 0.5;
    for (double away = 10; away + height <= reach; away += 6) {
        for (const double shift : {6.0, -6.0 - width, -width / 2, 16.0, -16.0 - width}) {
            const double left = group.x + shift;
            wishes.push_back({left, y - away - height, left + width, y - away});
            wishes.push_back({left, y + away, left + width, y + away + height});
        }
    }
    const auto box = page.labels.place(wishes);
    if (!box) return;
    double baseline = box->top + line_height - 3;
    for (const Line& one : lines) {
        const std::string css =
            formatted("halo{}{}", one.strong ? " strong" : "", one.bad ? " bad" : "");
        page.texts += text_at(css, box->left + 2, baseline, one.text);
        baseline += line_height;
    }
}

}  // namespace

std::string shape_at(MarkShape shape, double x, double y) {
    const auto polygon = [&](const char* css, std::array<std::array<double, 2>, 4> points) {
        std::string d;
        for (const auto& point : points) {
            d += formatted("{}{} {}", d.empty() ? "M" : "L", num(x + point[0]), num(y + point[1]));
        }
        return path(css, d + "Z");
    };
    switch (shape) {
        case MarkShape::death:
            return path("death",
                        formatted("M{} {}L{} {}M{} {}L{} {}", num(x - 7), num(y - 7), num(x + 7),
                                  num(y + 7), num(x - 7), num(y + 7), num(x + 7), num(y - 7)));
        case MarkShape::start: return polygon("start", {{{0, -6}, {9, 0}, {0, 6}, {0, -6}}});
        case MarkShape::suspicion: return polygon("doubt", {{{0, -6}, {6, 0}, {0, 6}, {-6, 0}}});
        case MarkShape::deposed: return polygon("deposed", {{{-7, -5}, {7, -5}, {0, 7}, {-7, -5}}});
        case MarkShape::trust: return circle("trust", x, y, 3);
        case MarkShape::election: return circle("begins", x, y, 6);
        case MarkShape::elected: return star(x, y);
        case MarkShape::follows: return circle("dot", x, y, 3.5);
        case MarkShape::other: return polygon("other", {{{-4, -4}, {4, -4}, {4, 4}, {-4, 4}}});
    }
    return "";
}

void draw_marks(Page& page) {
    std::vector<Group> groups = group_marks(page);
    for (const Group& group : groups) draw_shape(page, group);
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
        return importance(chief(a).shape) > importance(chief(b).shape);
    });
    for (const Group& group : groups) place_text(page, group);
}

}  // namespace bullring::protocol::diagram
