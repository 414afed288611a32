// The arrows.
#include <algorithm>
#include <cmath>

#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/svg_page.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr double head_length = 8;
constexpr double head_half = 3.2;
constexpr double stub_share = 0.45;  // of the distance between lanes
constexpr double label_size = 10;

struct Way {
    double x1 = 0;
    double y1 = 0;
    double x2 = 0;
    double y2 = 0;
};

/// How far a stub reaches: less than to the next lane, and less steep the further the other end is,
/// so that a message to each of several nodes can be told apart.
struct Stub {
    double dx = 0;
    double dy = 0;
};

Stub stub_of(const Page& page, const Arrow& arrow, double usual_flight) {
    const double lanes = static_cast<double>(arrow.to) - static_cast<double>(arrow.from);
    const double dx = std::max(usual_flight, 24.0) * (0.1 + 0.4 * std::abs(lanes));
    return {dx, page.layout.spacing * (lanes > 0 ? stub_share : -stub_share)};
}

Way way_of(const Page& page, const Arrow& arrow, double usual_flight) {
    Way way{page.x(arrow.sent), page.y(arrow.from), page.x(arrow.received), page.y(arrow.to)};
    const Stub stub = stub_of(page, arrow, usual_flight);
    // An end far outside of the picture would only make a line along the lanes.
    if (arrow.fate == Fate::lost || arrow.fate == Fate::open ||
        way.x2 > page.layout.right + 3 * usual_flight) {
        return {way.x1, way.y1, way.x1 + stub.dx, way.y1 + stub.dy};
    }
    if (arrow.fate == Fate::no_sender || way.x1 < page.layout.left - 3 * usual_flight) {
        return {way.x2 - stub.dx, way.y2 - stub.dy, way.x2, way.y2};
    }
    return way;
}

std::string head(const Way& way) {
    const double dx = way.x2 - way.x1;
    const double dy = way.y2 - way.y1;
    const double length = std::max(std::sqrt(dx * dx + dy * dy), 1.0);
    const double ux = dx / length;
    const double uy = dy / length;
    const double bx = way.x2 - ux * head_length;
    const double by = way.y2 - uy * head_length;
    return path("h", formatted("M{} {}L{} {}L{} {}Z", num(way.x2), num(way.y2),
                               num(bx - uy * head_half), num(by + ux * head_half),
                               num(bx + uy * head_half), num(by - ux * head_half)));
}

std::string cross(double x, double y) {
    constexpr double r = 4;
    return path("s", formatted("M{} {}L{} {}M{} {}L{} {}", num(x - r), num(y - r), num(x + r),
                               num(y + r), num(x - r), num(y + r), num(x + r), num(y - r)));
}

std::string instant(const Page& page, std::int64_t at) {
    return fixed(static_cast<double>(at - page.zero) / 1e6, 3) + " ms";
}

std::string tip_of(const Page& page, const Arrow& arrow) {
    const Model& model = page.model;
    const std::size_t record = arrow.sending != no_record ? arrow.sending : arrow.receipt;
    std::string tip =
        record == no_record ? look_of(arrow.look).name : model.trace.records[record].kind;
    tip += formatted(", {} → {}", model.node_name(arrow.from), model.node_name(arrow.to));
    if (record != no_record && !model.trace.records[record].detail.empty()) {
        tip += "\n" + model.trace.records[record].detail;
    }
    if (arrow.fate != Fate::no_sender) tip += "\nsent at " + instant(page, arrow.sent);
    switch (arrow.fate) {
        case Fate::delivered:
            tip += formatted(", received at {}, after {}", instant(page, arrow.received),
                             rounded_duration(arrow.received - arrow.sent));
            break;
        case Fate::no_sender:
            tip += "\nreceived at " + instant(page, arrow.received) + "; sending not in the trace";
            break;
        case Fate::lost: tip += ", never received"; break;
        case Fate::open: tip += ", arrival not in the trace"; break;
    }
    const auto clock = [&](std::size_t of) {
        const auto found = page.clocks.find(of);
        return found == page.clocks.end() ? std::string() : found->second;
    };
    const std::string sent = clock(arrow.sending);
    const std::string received = clock(arrow.receipt);
    if (!sent.empty()) tip += "\nvector clock " + sent;
    if (!received.empty()) tip += (sent.empty() ? "\nvector clock " : " → ") + received;
    return tip;
}

void place_label(Page& page, const Arrow& arrow, const Way& way) {
    const LookOf& look = look_of(arrow.look);
    if (look.label[0] == '\0') return;
    std::string text = look.label;
    const std::size_t record = arrow.sending != no_record ? arrow.sending : arrow.receipt;
    if (arrow.look == Look::nack) text += " " + page.model.trace.records[record].word;
    if (arrow.fate == Fate::lost) text += " → " + page.model.lanes[arrow.to].name;
    const double width = text_width(text, label_size) + 3;
    std::vector<Box> wishes;
    std::vector<Box> over_a_lane;
    if (arrow.fate == Fate::lost) {
        wishes.push_back({way.x2 + 6, way.y2 - 6, way.x2 + 6 + width, way.y2 + 6});
    }
    for (const double share : {0.5, 0.58, 0.42, 0.66, 0.34, 0.74, 0.26, 0.86}) {
        const double x = way.x1 + (way.x2 - way.x1) * share;
        const double y = way.y1 + (way.y2 - way.y1) * share;
        const double from_lane = std::abs(std::remainder(y - page.y(0), page.layout.spacing));
        (from_lane < 9 ? over_a_lane : wishes)
            .push_back({x - width / 2, y - 6, x + width / 2, y + 6});
    }
    wishes.insert(wishes.end(), over_a_lane.begin(), over_a_lane.end());
    if (const auto box = page.labels.place(wishes)) {
        page.texts += text_at(formatted("small halo l-{}", look.css), (box->left + box->right) / 2,
                              box->bottom - 2.5, text, "middle");
    }
}

const char* css_of(Weight weight) {
    switch (weight) {
        case Weight::strong: return "m";
        case Weight::thin: return "m thin";
        case Weight::background: return "back";
    }
    return "";
}

std::string draw_arrow(Page& page, const Arrow& arrow, const Way& way) {
    const LookOf& look = look_of(arrow.look);
    std::string elements =
        path("s", formatted("M{} {}L{} {}", num(way.x1), num(way.y1), num(way.x2), num(way.y2)));
    const bool background = look.weight == Weight::background;
    if (arrow.fate == Fate::lost) {
        page.symbols.insert(Symbol::lost);
        elements += cross(way.x2, way.y2);
    } else if (!background) {
        elements += head(way);
    }
    // Its other end is not in the picture.
    const bool open = arrow.fate == Fate::open || arrow.fate == Fate::no_sender ||
                      way.x2 - way.x1 < page.x(arrow.received) - page.x(arrow.sent) - 1;
    const std::string css =
        formatted("{} l-{}{}", css_of(look.weight), look.css, open ? " open" : "");
    if (background) return formatted("<g class=\"{}\">{}</g>\n", css, elements);
    return with_tip(css, tip_of(page, arrow), elements);
}

double usual_flight(const Page& page) {
    std::vector<double> flights;
    for (const Arrow& arrow : page.model.arrows) {
        if (!page.draws(arrow) || arrow.fate != Fate::delivered) continue;
        if (look_of(arrow.look).weight != Weight::strong) continue;
        flights.push_back(page.x(arrow.received) - page.x(arrow.sent));
    }
    if (flights.empty()) return 24;
    const auto middle = flights.begin() + static_cast<std::ptrdiff_t>(flights.size() / 2);
    std::nth_element(flights.begin(), middle, flights.end());
    return std::clamp(*middle, 10.0, 60.0);
}

}  // namespace

void draw_arrows(Page& page) {
    const double flight = usual_flight(page);
    for (const Arrow& arrow : page.model.arrows) {
        if (arrow.fate != Fate::lost || !page.draws(arrow)) continue;
        const Way way = way_of(page, arrow, flight);
        page.labels.take({way.x2 - 4, way.y2 - 4, way.x2 + 4, way.y2 + 4});
    }
    for (const Weight weight : {Weight::background, Weight::thin, Weight::strong}) {
        for (const Arrow& arrow : page.model.arrows) {
            if (look_of(arrow.look).weight != weight || !page.draws(arrow)) continue;
            if (arrow.from == arrow.to) continue;
            page.looks_used.insert(arrow.look);
            const Way way = way_of(page, arrow, flight);
            std::string& layer = weight == Weight::background ? page.faint : page.arrows;
            layer += draw_arrow(page, arrow, way);
            if (weight == Weight::strong) place_label(page, arrow, way);
        }
    }
}

}  // namespace bullring::protocol::diagram
