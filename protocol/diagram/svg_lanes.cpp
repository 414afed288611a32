// The lines of the nodes, what lies on them and behind them: axis, bars, bands, cuts.
#include <algorithm>
#include <map>

#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/svg_page.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr double lease_half = 9;
constexpr double role_half = 6;
constexpr double absence_half = 12;
constexpr double text_height = 12;

/// A text in the row above the lanes, as near to the middle of this stretch as there is room.
void say_above(Page& page, const char* css, double row, double left, double right,
               const std::string& text) {
    const double width = text_width(text, 11, true) + 4;
    const double middle = (left + right) / 2;
    std::vector<Box> wishes;
    for (const double shift : {0.0, width / 2, -width / 2, width, -width}) {
        const double from = std::clamp(middle + shift - width / 2, page.layout.left - 4,
                                       page.layout.right + 4 - width);
        wishes.push_back({from, row - text_height, from + width, row + 3});
    }
    if (const auto box = page.labels.place(wishes)) {
        page.texts += text_at(css, (box->left + box->right) / 2, row, text, "middle");
    }
}

std::string zigzag(double x, double top, double bottom) {
    std::string d = formatted("M{} {}", num(x), num(top));
    double side = 2.5;
    for (double y = top + 5; y <= bottom; y += 5) {
        d += formatted("L{} {}", num(x + side), num(y));
        side = -side;
    }
    return path("zigzag", d);
}

Box box_on_axis(const Page& page, double x, const std::string& text) {
    const double half = text_width(text, 10) / 2 + 3;
    return {x - half, page.layout.bottom, x + half, page.layout.bottom + 20};
}

void draw_folds(Page& page, Labels& row) {
    const Layout& layout = page.layout;
    for (const Stretch& stretch : page.scale.stretches()) {
        if (!stretch.folded) continue;
        page.symbols.insert(Symbol::fold);
        const double left = stretch.left + 8;
        const double right = stretch.right - 8;
        page.folds +=
            zigzag(left, layout.top, layout.bottom) + zigzag(right, layout.top, layout.bottom);
        page.folds += rect("paper", stretch.left + 4, layout.bottom - 1, stretch.right - 4,
                           layout.bottom + 1);
        const std::string text = "+" + rounded_duration(stretch.to - stretch.from);
        row.take(box_on_axis(page, (left + right) / 2, text));
        page.texts += text_at("pale small", (left + right) / 2, layout.bottom + 18, text, "middle");
    }
}

/// Runs of the lane on which it is there, between its absences.
void draw_lane_line(Page& page, Place place) {
    const Lane& lane = page.model.lanes[place];
    const double y = page.y(place);
    if (!lane.traced) {
        page.lanes += line("gone", page.layout.left, y, page.layout.right, y);
        return;
    }
    std::int64_t at = page.window.from;
    const auto alive_until = [&](std::int64_t to) {
        to = page.clamp(to);
        if (to > at) page.lanes += line("lane", page.x(at), y, page.x(to), y);
    };
    for (const Absence& absence : lane.absences) {
        if (!page.shows(absence.from, absence.to)) continue;
        alive_until(absence.from);
        const double left = page.x(page.clamp(absence.from));
        const double right = page.x(page.clamp(absence.to));
        if (absence.kind == AbsenceKind::dead) {
            page.lanes += line("gone", left, y, right, y);
        } else {
            page.lanes += line("lane", left, y, right, y);
        }
        at = std::max(at, page.clamp(absence.to));
    }
    alive_until(page.window.to);
}

void draw_absence(Page& page, Place place, const Absence& absence) {
    if (absence.kind == AbsenceKind::dead || !page.shows(absence.from, absence.to)) return;
    const bool silent = absence.kind == AbsenceKind::silent;
    page.symbols.insert(silent ? Symbol::silent : Symbol::paused);
    const double y = page.y(place);
    const double left = page.x(page.clamp(absence.from));
    const double right = page.x(page.clamp(absence.to));
    const std::string word = silent                                   ? "silent"
                             : absence.kind == AbsenceKind::suspended ? "suspended"
                                                                      : "paused";
    const std::string text = word + " " + rounded_duration(absence.to - absence.from);
    page.bars += with_tip("", page.model.node_name(place) + ": " + text,
                          rect("absent", left, y - absence_half, right, y + absence_half, 3) +
                              formatted("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                                        "fill=\"url(#hatching)\"/>\n",
                                        num(left), num(y - absence_half),
                                        num(std::max(right - left, 1.0)), num(absence_half * 2)));
    const double width = text_width(text, 11) + 4;
    std::vector<Box> wishes;
    for (const double top : {y + absence_half + 2, y - absence_half - 16}) {
        const double from = std::clamp((left + right - width) / 2, page.layout.left - 4,
                                       page.layout.right + 4 - width);
        wishes.push_back({from, top, from + width, top + 14});
    }
    if (const auto box = page.labels.place(wishes)) {
        page.texts +=
            text_at("halo", (box->left + box->right) / 2, box->bottom - 3, text, "middle");
    }
}

void draw_lease(Page& page, Place place, const LeaseBar& lease) {
    if (!page.shows(lease.from, std::max(lease.to, lease.until))) return;
    const double y = page.y(place);
    const double left = page.x(page.clamp(lease.from));
    const double right = page.x(page.clamp(lease.to));
    const std::string epoch = page.model.epochs.name(lease.epoch);
    const std::string tip = formatted("{} leads in epoch {} for {}", page.model.node_name(place),
                                      lease.epoch, rounded_duration(lease.to - lease.from));
    if (lease.to > lease.from && page.shows(lease.from, lease.to)) {
        page.symbols.insert(Symbol::lease);
        page.bars +=
            with_tip("", tip, rect("lease", left, y - lease_half, right, y + lease_half, 2));
        page.labels.take({left, y - lease_half, right, y + lease_half});
    }
    if (lease.until > lease.to && page.shows(lease.to, lease.until)) {
        page.symbols.insert(Symbol::ghost);
        const double end = page.x(page.clamp(lease.until));
        page.bars += with_tip("",
                              formatted("the lease would have lasted {} longer",
                                        rounded_duration(lease.until - lease.to)),
                              rect("ghost", right, y - lease_half, end, y + lease_half, 2));
    }
    for (const std::string& text : {"leads in epoch " + epoch, "epoch " + epoch, epoch}) {
        const double width = text_width(text, 11) + 22;
        // Folds and window edges would cut it: from the left, or in front of the end.
        if (right - left < width) continue;
        page.texts += text_at("", left + 14, y + 4, text);
        return;
    }
}

void draw_role(Page& page, Place place, const RoleBar& role) {
    if (role.to <= role.from || !page.shows(role.from, role.to)) return;
    page.symbols.insert(role.stepping_down ? Symbol::stepping_down : Symbol::candidate);
    const double y = page.y(place);
    const double left = page.x(page.clamp(role.from));
    const double right = page.x(page.clamp(role.to));
    const std::string word = role.stepping_down ? "steps down" : "candidate";
    page.bars += with_tip(
        "",
        formatted("{}: {}, epoch {}, {}", page.model.node_name(place), word, role.epoch,
                  rounded_duration(role.to - role.from)),
        rect(role.stepping_down ? "ends" : "stands", left, y - role_half, right, y + role_half, 2));
    page.labels.take({left, y - role_half, right, y + role_half});
    if (right - left > text_width(word, 10) + 18) {
        page.texts += text_at("small", (left + right) / 2 + 4, y + 3.5, word, "middle");
    }
}

std::string links_text(const Model& model, const std::vector<LinkChange>& changes) {
    std::vector<std::uint64_t> nodes;
    for (const Lane& lane : model.lanes) {
        if (nodes.empty() || nodes.back() != lane.node) nodes.push_back(lane.node);
    }
    const auto changed = [&](std::uint64_t from, std::uint64_t to) {
        return std::any_of(changes.begin(), changes.end(), [&](const LinkChange& change) {
            return change.from == from && change.to == to;
        });
    };
    const auto two_way = [&](std::uint64_t a, std::uint64_t b) {
        return changed(a, b) && changed(b, a);
    };
    // All links between two groups, and no others: a partition.
    std::vector<std::uint64_t> here;
    std::vector<std::uint64_t> there;
    for (const std::uint64_t node : nodes) {
        const bool apart = node != changes.front().from && two_way(changes.front().from, node);
        (apart ? there : here).push_back(node);
    }
    std::size_t between = 0;
    for (const std::uint64_t a : here) {
        for (const std::uint64_t b : there) between += two_way(a, b) ? 2U : 0U;
    }
    if (!there.empty() && between == changes.size() && between == here.size() * there.size() * 2) {
        if (here.size() > there.size()) std::swap(here, there);
        return list_text(here) + " | " + list_text(there);
    }
    std::string text;
    std::size_t said = 0;
    for (const LinkChange& change : changes) {
        const bool both = two_way(change.from, change.to);
        if (both && change.from > change.to) continue;
        if (said++ == 4) return text + ", …";
        if (!text.empty()) text += ", ";
        text += formatted("{}{}{}", change.from, both ? "–" : "→", change.to);
    }
    return text;
}

}  // namespace

void draw_axis(Page& page) {
    const Layout& layout = page.layout;
    Labels row({0, layout.bottom, layout.width, layout.bottom + 20});
    draw_folds(page, row);
    for (const Tick& tick : page.scale.ticks(page.zero)) {
        page.grid += line("grid", tick.x, layout.top, tick.x, layout.bottom);
        if (row.place({box_on_axis(page, tick.x, tick.text)})) {
            page.texts += text_at("small", tick.x, layout.bottom + 18, tick.text, "middle");
        }
    }
    page.grid += line("axis", layout.left, layout.bottom, layout.right, layout.bottom);
    std::string zero =
        formatted("{} into the trace", rounded_duration(page.zero - page.model.begin));
    for (const Episode& episode : page.episodes) {
        if (episode.cause != page.zero || episode.why.empty()) continue;
        zero = episode.why + ", " + zero;
        break;
    }
    page.texts += text_at("pale small", layout.left, layout.bottom + 36,
                          formatted("{}; 0: {}", page.scale.unit(page.zero), zero));
}

void draw_episodes(Page& page) {
    const Layout& layout = page.layout;
    const double row = layout.top - 10;
    for (const Episode& episode : page.episodes) {
        if (!page.shows(episode.lost, episode.end)) continue;
        const double lost = page.x(page.clamp(episode.lost));
        const double begin = page.x(page.clamp(episode.begin));
        const double end = std::max(page.x(page.clamp(episode.end)), begin + 2);
        const std::string took = rounded_duration(episode.end - episode.begin);
        const std::string winner = episode.winner
                                       ? page.model.node_name(*episode.winner) + " is elected"
                                       : std::string("nobody is elected");
        page.symbols.insert(Symbol::election_band);
        page.bands += with_tip("", formatted("election, {}: {}", took, winner),
                               rect("election", begin, layout.top, end, layout.bottom));
        // One that was over at once has its star.
        if (episode.end > episode.begin)
            say_above(page, "strong", row, begin, end, "election " + took);
        if (begin - lost < 1.5) continue;
        page.symbols.insert(Symbol::nobody_band);
        const std::string nobody = "no leader " + rounded_duration(episode.begin - episode.lost);
        page.bands += with_tip("", nobody, rect("nobody", lost, layout.top, begin, layout.bottom));
        say_above(page, "pale", row, lost, begin, nobody);
    }
}

void draw_links(Page& page) {
    std::map<std::pair<std::int64_t, bool>, std::vector<LinkChange>> moments;
    for (const LinkChange& link : page.model.links) {
        if (page.shows(link.at)) moments[{link.at, !link.cut}].push_back(link);
    }
    const Layout& layout = page.layout;
    for (const auto& [moment, changes] : moments) {
        const auto [at, healed] = moment;
        const double x = page.x(at);
        const std::string text =
            formatted("{} {}", healed ? "healed" : "cut", links_text(page.model, changes));
        page.symbols.insert(Symbol::cut);
        page.marks +=
            with_tip("", text, line(healed ? "heal" : "cut", x, layout.top - 6, x, layout.bottom));
        say_above(page, healed ? "good" : "bad", layout.top - 26, x - 1, x + 1, text);
    }
}

void draw_lanes(Page& page) {
    for (Place place = 0; place < page.model.lanes.size(); ++place) {
        if (!page.has_row(place)) continue;
        draw_lane_line(page, place);
        const double y = page.y(place);
        const Layout& layout = page.layout;
        const std::string before = page.model.state(place, page.window.from);
        const std::string after = page.model.state(place, page.window.to);
        page.texts += text_at("name", layout.left - 12, y, page.model.node_name(place), "end");
        page.texts += text_at("pale small", layout.left - 12, y + 13, before, "end");
        page.texts += text_at("pale small", layout.right + 10, y + 4, after);
    }
}

void draw_bars(Page& page) {
    for (Place place = 0; place < page.model.lanes.size(); ++place) {
        if (!page.has_row(place)) continue;
        const Lane& lane = page.model.lanes[place];
        for (const Absence& absence : lane.absences) draw_absence(page, place, absence);
        for (const LeaseBar& lease : lane.leases) draw_lease(page, place, lease);
        for (const RoleBar& role : lane.roles) draw_role(page, place, role);
    }
}

}  // namespace bullring::protocol::diagram
