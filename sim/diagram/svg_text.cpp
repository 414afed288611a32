#include "sim/diagram/svg_text.hpp"

#include <fmt/format.h>

namespace bullring::sim::diagram {

std::string num(double value) {
    std::string text = fmt::format("{:.1f}", value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text == "-0" ? "0" : text;
}

std::string xml(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\n': out += "&#10;"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += "\xEF\xBF\xBD";
                } else {
                    out += c;
                }
        }
    }
    return out;
}

std::string path(std::string_view css, std::string_view d) {
    return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css, d);
}

std::string line(std::string_view css, double x1, double y1, double x2, double y2) {
    return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", css,
                       num(x1), num(y1), num(x2), num(y2));
}

std::string rect(std::string_view css, double left, double top, double right, double bottom,
                 double radius) {
    const std::string round = radius > 0 ? fmt::format(" rx=\"{}\"", num(radius)) : "";
    return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n", css,
                       num(left), num(top), num(right > left ? right - left : 0), num(bottom - top),
                       round);
}

std::string circle(std::string_view css, double x, double y, double radius) {
    return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", css, num(x), num(y),
                       num(radius));
}

std::string text_at(std::string_view css, double x, double y, std::string_view text,
                    const char* anchor) {
    return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", css,
                       num(x), num(y), anchor, xml(text));
}

std::string with_tip(std::string_view css, std::string_view tip, std::string_view elements) {
    return fmt::format("<g class=\"{}\"><title>{}</title>\n{}</g>\n", css, xml(tip), elements);
}

}  // namespace bullring::sim::diagram
