#include "protocol/diagram/svg_text.hpp"

#include <algorithm>

#include "protocol/diagram/formatted.hpp"
#include "protocol/trace/trace_json.hpp"

namespace bullring::protocol::diagram {

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

std::string num(double value) {
    std::string text = fixed(value, 1);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text == "-0" ? "0" : text;
}

std::string xml(std::string_view text) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Character next = first_character(text);
        const std::string_view character = text.substr(0, next.length);
        text.remove_prefix(next.length);
        const char c = character.front();
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else if (c == '"') {
            out += "&quot;";
        } else if (c == '\n') {
            out += "&#10;";
        } else {
            const bool control = static_cast<unsigned char>(c) < 0x20;
            const bool no_character = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
            out += next.good && !control && !no_character ? character : replacement;
        }
    }
    return out;
}

std::string path(std::string_view css, std::string_view d) {
    return formatted("<path class=\"{}\" d=\"{}\"/>\n", css, d);
}

std::string line(std::string_view css, double x1, double y1, double x2, double y2) {
    return formatted("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", css, num(x1),
                     num(y1), num(x2), num(y2));
}

std::string rect(std::string_view css, double left, double top, double right, double bottom,
                 double radius) {
    const std::string round = radius > 0 ? formatted(" rx=\"{}\"", num(radius)) : "";
    return formatted("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n", css,
                     num(left), num(top), num(right > left ? right - left : 0), num(bottom - top),
                     round);
}

std::string circle(std::string_view css, double x, double y, double radius) {
    return formatted("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", css, num(x), num(y),
                     num(radius));
}

std::string text_at(std::string_view css, double x, double y, std::string_view text,
                    const char* anchor) {
    return formatted("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", css,
                     num(x), num(y), anchor, xml(text));
}

std::string with_tip(std::string_view css, std::string_view tip, std::string_view elements) {
    return formatted("<g class=\"{}\"><title>{}</title>\n{}</g>\n", css, xml(tip), elements);
}

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

}  // namespace bullring::protocol::diagram
