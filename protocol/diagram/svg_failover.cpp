// Draws the rows of a change of leader.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <utility>

#include "protocol/diagram/failover.hpp"
#include "protocol/diagram/failover_rows.hpp"
#include "protocol/diagram/formatted.hpp"
#include "protocol/diagram/svg_page.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr double paper_width = 360;
constexpr double peer_gap_min = 26;
constexpr double margin = 10;
constexpr double right_margin = 24;
constexpr double own_x = 88;
constexpr double failover_head = 8;
constexpr double lanes_top = 92;
constexpr double legend_row = 32;
constexpr std::size_t bars_max = 100;

double height_of(RowKind kind) {
    switch (kind) {
        case RowKind::sent:
        case RowKind::received: return 27;
        case RowKind::mark: return 21;
        case RowKind::wait:
        case RowKind::left_out: return 30;
    }
    return 0;
}

/// The looks and symbols that a legend has to explain.
struct Used {
    std::set<Look> looks;
    std::set<Symbol> symbols;
};

struct Size {
    double width = 0;
    double height = 0;
};

/// From `bottom` on, which they move down.
std::string legend_rows(const Used& used, double& bottom) {
    std::string out;
    const auto add = [&](const std::string& sample, const char* name, const char* meaning) {
        out += formatted("<g transform=\"translate({} {})\">\n{}", num(margin),
                         num(bottom + legend_row / 2), sample);
        out += text_at("strong", sample_width + 10, -1, name) +
               text_at("pale small", sample_width + 10, 11, meaning) + "</g>\n";
        bottom += legend_row;
    };
    if (used.symbols.count(Symbol::lease) > 0)
        add(rect("lease", 2, -6, sample_width - 2, 6, 2), "leads", "as far as this node knows");
    if (used.symbols.count(Symbol::candidate) > 0)
        add(rect("stands", 2, -4, sample_width - 2, 4, 2), "candidate", "asks for promises");
    if (used.symbols.count(Symbol::stepping_down) > 0)
        add(rect("ends", 2, -4, sample_width - 2, 4, 2), "stepping down", "its task is ending");
    for (const Look look : used.looks)
        add(arrow_sample(look), look_of(look).name, look_of(look).meaning);
    return out;
}

std::string picture(Size size, const std::string& title, StyleSheet style,
                    const std::string& body) {
    std::string out = formatted(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "class=\"failover\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n",
        num(size.width), num(size.height), xml(title));
    if (style == StyleSheet::inside) out += "<style>\n" + failover_style() + "</style>\n";
    return out + rect("paper", 0, 0, size.width, size.height) + body + "</svg>\n";
}

class FailoverPage {
public:
    FailoverPage(FailoverRows told, const FailoverStory& story)
        : told_(std::move(told)), story_(story) {
        const auto peers = static_cast<double>(told_.peers.size());
        width_ = std::max(paper_width, own_x + peers * peer_gap_min + right_margin);
        double y = lanes_top + 12;
        for (const Row& row : told_.rows) {
            y += height_of(row.kind);
            ys_.push_back(row.kind == RowKind::wait ? y - height_of(row.kind) * 0.4 : y - 5);
        }
        bottom_ = y + 16;
    }

    std::string draw(StyleSheet style, LegendPlace legend) {
        std::string body = head() + band() + lanes() + bars();
        for (std::size_t i = 0; i < told_.rows.size(); ++i) body += row(i);
        body += texts_;
        if (legend == LegendPlace::below) body += legend_rows(used_, bottom_ += 8);
        return picture({width_, bottom_ + 14}, title() + ", " + subtitle(), style, body);
    }

    /// The looks and symbols that have been drawn.
    const Used& used() const { return used_; }

private:
    static std::string node_or_nobody(std::uint64_t node) {
        return node == 0 ? std::string("nobody") : formatted("node {}", node);
    }

    std::string title() const {
        if (story_.from == 0) return formatted("{} leads", node_or_nobody(story_.to));
        if (story_.to == story_.from) return formatted("{} leads again", node_or_nobody(story_.to));
        return formatted("{} → {}", node_or_nobody(story_.from), node_or_nobody(story_.to));
    }

    std::string subtitle() const {
        const std::int64_t took = story_.found_ns - story_.lost_ns + story_.silent_ns;
        if (story_.from == 0) return formatted("epoch {}", story_.epoch);  // there was none to lose
        return formatted(
            "{}, epoch {}",
            took <= 0 ? std::string("without a gap") : rounded_duration(took) + " without a leader",
            story_.epoch);
    }

    std::string as_seen() const {
        const std::string seen = formatted("as node {} saw it", story_.node);
        return story_.left_out == 0 ? seen
                                    : formatted("{}; {} lines left out", seen, story_.left_out);
    }

    std::string head() const {
        return text_at("title", margin, 26, title()) + text_at("", margin, 45, subtitle()) +
               text_at("pale small", margin, 60, as_seen());
    }

    double x(std::uint64_t node) const {
        if (node == story_.node) return own_x;
        const auto found = std::lower_bound(told_.peers.begin(), told_.peers.end(), node);
        const auto place = static_cast<double>(found - told_.peers.begin());
        const auto peers = static_cast<double>(told_.peers.size());
        return own_x + (width_ - right_margin - own_x) * (place + 1) / std::max(peers, 1.0);
    }
    bool has_lane(std::uint64_t node) const {
        return node == story_.node ||
               std::binary_search(told_.peers.begin(), told_.peers.end(), node);
    }

    /// Between two rows by the share of the time between them.
    double y(std::int64_t at) const {
        double before_y = lanes_top;
        std::int64_t before = told_.begin;
        for (std::size_t i = 0; i < ys_.size(); ++i) {
            const std::int64_t here = told_.rows[i].at;
            if (at == here) return ys_[i];
            if (at < here) return before_y + share(before, at, here) * (ys_[i] - before_y);
            before = here;
            before_y = ys_[i];
        }
        return before_y + share(before, at, told_.end) * (bottom_ - before_y);
    }
    static double share(std::int64_t from, std::int64_t at, std::int64_t to) {
        if (to <= from) return 0;
        const double part = static_cast<double>(at - from) / static_cast<double>(to - from);
        return std::clamp(part, 0.0, 1.0);
    }

    std::string band() const {
        if (told_.rows.empty() || story_.found_ns <= story_.lost_ns) return "";
        return rect("election", own_x - 14, y(story_.lost_ns), width_ - right_margin + 14,
                    y(story_.found_ns));
    }

    std::string lanes() {
        std::string out =
            text_at("name", own_x, lanes_top - 10, formatted("node {}", story_.node), "middle") +
            line("lane", own_x, lanes_top, own_x, bottom_);
        out += text_at("pale small", own_x - 18, lanes_top, "ms", "end");
        Labels heads({own_x + 30, 0, width_, lanes_top});
        for (const std::uint64_t peer : told_.peers) {
            const double at = x(peer);
            const std::string name = formatted("{}", peer);
            const double half = text_width(name, 13, true) / 2 + 1;
            if (heads.place({{at - half, lanes_top - 20, at + half, lanes_top - 8}}))
                out += text_at("name", at, lanes_top - 10, name, "middle");
            out += lane_of(peer, at);
        }
        return out;
    }

    /// Dotted while it is lost.
    std::string lane_of(std::uint64_t peer, double at) const {
        std::string out;
        double from = lanes_top;
        std::size_t drawn = 0;
        for (const Loss& loss : told_.losses) {
            if (loss.peer != peer || y(loss.from) < from || drawn++ == bars_max) continue;
            out += line("lane", at, from, at, y(loss.from));
            from = y(loss.to);
            out += line("gone", at, y(loss.from), at, from);
        }
        return out + line("lane", at, from, at, bottom_);
    }

    std::string bars() {
        std::string out;
        for (std::size_t i = 0; i < std::min(told_.reigns.size(), bars_max); ++i) {
            const Reign& reign = told_.reigns[i];
            if (!has_lane(reign.leader)) continue;
            const double at = x(reign.leader);
            used_.symbols.insert(Symbol::lease);
            out += with_tip(
                "", formatted("node {} leads, as far as node {} knows", reign.leader, story_.node),
                rect("lease", at - 5, y(reign.from), at + 5, y(reign.to), 2));
        }
        for (std::size_t i = 0; i < std::min(told_.roles.size(), bars_max); ++i) {
            const RoleBar& role = told_.roles[i];
            const Symbol symbol = role.stepping_down ? Symbol::stepping_down : Symbol::candidate;
            used_.symbols.insert(symbol);
            out += rect(role.stepping_down ? "ends" : "stands", own_x - 4, y(role.from), own_x + 4,
                        y(role.to), 2);
        }
        return out;
    }

    std::string row(std::size_t i) {
        const Row& row = told_.rows[i];
        const double at = ys_[i];
        switch (row.kind) {
            case RowKind::wait:
                texts_ += text_at("pale small", own_x + 14, at + 3, row.text + " later");
                return line("lane", own_x - 6, at, own_x + 6, at - 5) +
                       line("lane", own_x - 6, at + 5, own_x + 6, at);
            case RowKind::left_out:
                texts_ += text_at("pale small halo", own_x + 14, at, row.text);
                return "";
            case RowKind::mark: return clock(i) + mark(row, at);
            case RowKind::sent:
            case RowKind::received: return clock(i) + message(row, at);
        }
        return "";
    }

    /// When it was; once for all that is of one instant.
    std::string clock(std::size_t i) const {
        const std::int64_t at = told_.rows[i].at;
        if (i > 0 && told_.rows[i - 1].at == at) return "";
        const double ms = static_cast<double>(std::abs(at - story_.lost_ns)) / 1e6;
        return text_at("pale small", own_x - 18, ys_[i] + 3,
                       at == story_.lost_ns ? "0" : (at < story_.lost_ns ? "−" : "") + fixed(ms, 2),
                       "end");
    }

    std::string mark(const Row& row, double at) {
        const bool strong = row.shape == MarkShape::elected ||
                            (row.shape == MarkShape::follows && !row.peers.empty());
        texts_ += text_at(strong ? "halo strong" : "halo", own_x + 14, at + 4, row.text);
        std::string shapes = shape_at(row.shape, own_x, at);
        // Where the peer has its line, too: that is who it is about.
        if (row.shape == MarkShape::suspicion && has_lane(row.peers.front()))
            shapes += shape_at(MarkShape::death, x(row.peers.front()), at);
        return with_tip("", row.tip, shapes);
    }

    std::string message(const Row& row, double at) {
        const LookOf& look = look_of(row.look);
        used_.looks.insert(row.look);
        const bool sent = row.kind == RowKind::sent;
        double furthest = own_x;
        std::string heads;
        for (const std::uint64_t peer : row.peers) {
            if (!has_lane(peer)) continue;
            furthest = std::max(furthest, x(peer));
            if (sent) heads += arrow_head(x(peer), at, -1);
        }
        if (!sent) heads = arrow_head(own_x, at, 1);
        texts_ += text_at(formatted("small halo l-{}", look.css), own_x + 14, at - 4, row.text);
        std::string tip = row.tip;
        if (row.peers.size() > 1) tip = formatted("to {}\n{}", list_text(row.peers), tip);
        return with_tip(
            formatted("m l-{}{}", look.css, look.weight == Weight::thin ? " thin" : ""), tip,
            path("s", formatted("M{0} {1}L{2} {1}", num(own_x), num(at), num(furthest))) + heads);
    }

    /// With its tip at this point; `side` is where it comes from: -1 the left.
    static std::string arrow_head(double x, double y, double side) {
        return path(
            "h", formatted("M{0} {1}l{2} 3.2l0 -6.4Z", num(x), num(y), num(side * failover_head)));
    }

    FailoverRows told_;
    FailoverStory story_;
    double width_ = paper_width;
    double bottom_ = 0;       // of the lanes, then of the legend
    std::vector<double> ys_;  // by row
    std::string texts_;       // in front of everything
    Used used_;
};

FailoverPage page_of(const std::vector<TraceRecord>& records, const FailoverStory& story) {
    FailoverStory bounded = story;
    for (std::int64_t* at : {&bounded.lost_ns, &bounded.found_ns})
        *at = std::clamp(*at, -trace_time_max, trace_time_max);
    return FailoverPage(failover_rows(records, bounded), bounded);
}

}  // namespace

std::string failover_svg(const std::vector<TraceRecord>& records, const FailoverStory& story,
                         StyleSheet style, LegendPlace legend) {
    return page_of(records, story).draw(style, legend);
}

std::string failover_legend_svg(const std::vector<DrawnFailover>& failovers) {
    Used used;
    for (const DrawnFailover& one : failovers) {
        FailoverPage page = page_of(one.records, one.story);
        page.draw(StyleSheet::outside, LegendPlace::nowhere);
        used.looks.insert(page.used().looks.begin(), page.used().looks.end());
        used.symbols.insert(page.used().symbols.begin(), page.used().symbols.end());
    }
    double bottom = 8;
    const std::string rows = legend_rows(used, bottom);
    return picture({paper_width, bottom + 8}, "what the lines and bars mean", StyleSheet::inside,
                   rows);
}

std::string failover_style() {
    std::set<Look> all;
    for (std::size_t look = 0; look < looks; ++look) all.insert(static_cast<Look>(look));
    return style_sheet(Theme::automatic, all);
}

}  // namespace bullring::protocol::diagram
