// Pieces of SVG text: numbers, escaped strings, elements. Knows nothing of diagrams.
#pragma once

#include <string>
#include <string_view>

namespace bullring::sim::diagram {

/// At most one decimal.
std::string num(double value);
/// For element content and attributes; what XML can't hold becomes U+FFFD.
std::string xml(std::string_view text);

/// <path class="…" d="…"/>
std::string path(std::string_view css, std::string_view d);
std::string line(std::string_view css, double x1, double y1, double x2, double y2);
std::string rect(std::string_view css, double left, double top, double right, double bottom,
                 double radius = 0);
std::string circle(std::string_view css, double x, double y, double radius);
/// `anchor` is start, middle or end.
std::string text_at(std::string_view css, double x, double y, std::string_view text,
                    const char* anchor = "start");
/// The elements with a tooltip; no script is needed for it.
std::string with_tip(std::string_view css, std::string_view tip, std::string_view elements);

}  // namespace bullring::sim::diagram
