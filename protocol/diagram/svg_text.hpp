// Pieces of SVG: numbers, escaped strings, elements; how wide a text is, and where there is room
// for it. Knows nothing of diagrams.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bullring::protocol::diagram {

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

struct Box {
    double left = 0;
    double top = 0;
    double right = 0;
    double bottom = 0;
    bool overlaps(const Box& other) const {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
};

/// How wide a text is in a usual sans-serif font; rather too wide than too narrow.
double text_width(std::string_view text, double size, bool bold = false);

/// Finds a free place for each text of a picture. Owns what is taken; draws nothing.
class Labels {
public:
    explicit Labels(Box paper) : paper_(paper) {}

    void take(Box box) { taken_.push_back(box); }
    bool is_free(const Box& box) const;
    /// The first of these that is free, which is then taken.
    std::optional<Box> place(const std::vector<Box>& wishes);

private:
    Box paper_;
    std::vector<Box> taken_;
};

}  // namespace bullring::protocol::diagram
