#include "sim/diagram/labels.hpp"

#include <algorithm>

namespace bullring::sim::diagram {

namespace {

double em_of(char c) {
    constexpr std::string_view narrow = "iljtfrI.,:;|!'()[] -/";
    constexpr std::string_view wide = "mwMW%";
    if (narrow.find(c) != std::string_view::npos) return 0.36;
    if (wide.find(c) != std::string_view::npos) return 0.92;
    if (c >= 'A' && c <= 'Z') return 0.72;
    return 0.6;
}

}  // namespace

double text_width(std::string_view text, double size, bool bold) {
    double ems = 0;
    for (const char c : text) {
        // The later bytes of a character of UTF-8 have no width of their own.
        if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ems += em_of(c);
    }
    return ems * size * (bold ? 1.08 : 1);
}

bool Labels::is_free(const Box& box) const {
    if (box.left < paper_.left || box.right > paper_.right || box.top < paper_.top ||
        box.bottom > paper_.bottom) {
        return false;
    }
    return std::none_of(taken_.begin(), taken_.end(),
                        [&](const Box& other) { return box.overlaps(other); });
}

std::optional<Box> Labels::place(const std::vector<Box>& wishes) {
    for (const Box& wish : wishes) {
        if (!is_free(wish)) continue;
        take(wish);
        return wish;
    }
    return std::nullopt;
}

}  // namespace bullring::sim::diagram
