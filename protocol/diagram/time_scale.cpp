#include "protocol/diagram/time_scale.hpp"

#include <algorithm>
#include <cstdlib>

#include "protocol/diagram/formatted.hpp"
#include "protocol/values/names.hpp"

namespace bullring::protocol::diagram {

namespace {

constexpr double fold_width = 46;
constexpr double fold_width_with_marks = 110;
constexpr double flight_width_wanted = 34;
constexpr double flight_width_enough = 14;
constexpr std::size_t folds_max = 8;
constexpr double tick_gap = 84;
/// One part in so many of a gap stays open beside something that happens, so that it does not touch
/// the fold.
constexpr std::int64_t margin_divisor = 8;

struct Gap {
    std::int64_t from = 0;
    std::int64_t to = 0;
    double width = fold_width;  // when it is folded
    std::int64_t length() const { return to - from; }
};

std::int64_t median(std::vector<std::int64_t> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The stretches without any instant, longest first.
std::vector<Gap> gaps(const ScaleWish& wish) {
    std::vector<std::int64_t> instants = wish.instants;
    instants.push_back(wish.from);
    instants.push_back(wish.to);
    std::sort(instants.begin(), instants.end());
    std::vector<Gap> found;
    for (std::size_t i = 1; i < instants.size(); ++i) {
        const std::int64_t from = std::max(instants[i - 1], wish.from);
        const std::int64_t to = std::min(instants[i], wish.to);
        if (from < to) found.push_back({from, to});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Gap& a, const Gap& b) { return a.length() > b.length(); });
    return found;
}

/// Which gaps to fold, in the order of time: as few of the longest as make the messages readable.
std::vector<Gap> choose_folds(const ScaleWish& wish) {
    const std::int64_t flight = median(wish.flights);
    std::vector<Gap> folds;
    if (wish.mode == ScaleMode::linear || flight <= 0) return folds;
    double open = static_cast<double>(wish.to - wish.from);
    double width = wish.right - wish.left;
    const auto flight_width = [&] { return static_cast<double>(flight) * width / open; };
    if (flight_width() >= flight_width_enough) return folds;
    for (const Gap& gap : gaps(wish)) {
        if (folds.size() == folds_max || flight_width() >= flight_width_wanted) break;
        // The room at the edges is there for a purpose.
        const bool at_edge = gap.from == wish.from || gap.to == wish.to;
        if (at_edge && gap.length() < 12 * flight) continue;
        const std::int64_t margin = std::min(gap.length() / margin_divisor, flight);
        Gap fold{gap.from + margin, gap.to - margin};
        if (std::any_of(wish.marks.begin(), wish.marks.end(),
                        [&](std::int64_t mark) { return fold.from <= mark && mark <= fold.to; })) {
            fold.width = fold_width_with_marks;
        }
        const double saved = static_cast<double>(fold.length()) * width / open;
        if (saved < fold.width * 1.5 || width < fold.width * 3) continue;
        folds.push_back(fold);
        open -= static_cast<double>(fold.length());
        width -= fold.width;
    }
    std::sort(folds.begin(), folds.end(),
              [](const Gap& a, const Gap& b) { return a.from < b.from; });
    return folds;
}

struct Step {
    std::int64_t ns = 1;
    int decimals_ms = 6;
};

/// The smallest 1, 2 or 5 times a power of ten that leaves room for the texts.
Step step_for(double ns_per_pixel) {
    const double wanted = ns_per_pixel * tick_gap;
    std::int64_t power = 1;
    int decimals = 6;
    while (true) {
        for (const std::int64_t factor : {1, 2, 5}) {
            if (static_cast<double>(power * factor) >= wanted) {
                return {power * factor, std::max(decimals, 0)};
            }
        }
        power *= 10;
        --decimals;
    }
}

}  // namespace

const char* name(ScaleMode mode) {
    switch (mode) {
        case ScaleMode::automatic: return "auto";
        case ScaleMode::linear: return "linear";
    }
    return protocol::no_name;
}

TimeScale::TimeScale(ScaleWish wish) {
    if (wish.to <= wish.from) wish.to = wish.from + 1;
    lay_out(wish);
}

void TimeScale::lay_out(const ScaleWish& wish) {
    const std::vector<Gap> folds = choose_folds(wish);
    std::int64_t open = wish.to - wish.from;
    double width = wish.right - wish.left;
    for (const Gap& fold : folds) {
        open -= fold.length();
        width -= fold.width;
    }
    const double per_ns = width / static_cast<double>(std::max<std::int64_t>(open, 1));
    std::int64_t at = wish.from;
    double x = wish.left;
    const auto add_open = [&](std::int64_t to) {
        if (to <= at) return;
        const double right = x + static_cast<double>(to - at) * per_ns;
        stretches_.push_back({at, to, x, right, false});
        at = to;
        x = right;
    };
    for (const Gap& fold : folds) {
        add_open(fold.from);
        stretches_.push_back({fold.from, fold.to, x, x + fold.width, true});
        at = fold.to;
        x += fold.width;
    }
    add_open(wish.to);
}

double TimeScale::x(std::int64_t at) const {
    const Stretch* here = &stretches_.back();
    for (const Stretch& stretch : stretches_) {
        if (at < stretch.to) {
            here = &stretch;
            break;
        }
    }
    const double share =
        static_cast<double>(at - here->from) / static_cast<double>(here->to - here->from);
    return here->left + share * (here->right - here->left);
}

bool TimeScale::folded() const {
    return std::any_of(stretches_.begin(), stretches_.end(),
                       [](const Stretch& stretch) { return stretch.folded; });
}

const char* TimeScale::unit(std::int64_t zero) const {
    const std::int64_t furthest =
        std::max(std::abs(stretches_.back().to - zero), std::abs(stretches_.front().from - zero));
    return furthest >= 10'000'000'000 ? "s" : "ms";
}

std::vector<Tick> TimeScale::ticks(std::int64_t zero) const {
    std::vector<Tick> found;
    const bool in_seconds = unit(zero)[0] == 's';
    const auto add = [&](std::int64_t at, int decimals_ms) {
        const double position = x(at);
        if (!found.empty() && position - found.back().x < tick_gap * 0.6) return;
        const double value = static_cast<double>(at - zero) / (in_seconds ? 1e9 : 1e6);
        const int decimals = in_seconds ? decimals_ms + 3 : decimals_ms;
        std::string text = fixed(value, decimals);
        if (in_seconds && text.find('.') != std::string::npos) {
            while (text.back() == '0') text.pop_back();
            if (text.back() == '.') text.pop_back();
        }
        found.push_back({position, text});
    };
    for (const Stretch& stretch : stretches_) {
        if (stretch.folded) continue;
        const double per_pixel = static_cast<double>(stretch.to - stretch.from) /
                                 std::max(stretch.right - stretch.left, 1.0);
        const Step step = step_for(per_pixel);
        const std::size_t before = found.size();
        std::int64_t at = zero + (stretch.from - zero) / step.ns * step.ns;
        if (at < stretch.from) at += step.ns;
        for (; at <= stretch.to; at += step.ns) add(at, step.decimals_ms);
        if (found.size() == before) {
            add(stretch.from + (stretch.to - stretch.from) / 2, std::max(step.decimals_ms, 1));
        }
    }
    return found;
}

}  // namespace bullring::protocol::diagram
