// Finds a free place for each text of a picture. Owns what is taken; draws nothing.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace bullring::sim::diagram {

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

}  // namespace bullring::sim::diagram
