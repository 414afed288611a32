#include "sim/complexity/chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bullring::sim {

namespace {

constexpr double width = 760;
constexpr double height = 460;
constexpr double left = 64;
constexpr double right = 200;
constexpr double top = 44;
constexpr double bottom = 48;

struct Scale {
    std::size_t nodes_min = 1;
    std::size_t nodes_max = 2;
    double messages_max = 10;

    double x(std::size_t nodes) const {
        return left + (width - left - right) * static_cast<double>(nodes - nodes_min) /
                          static_cast<double>(nodes_max - nodes_min);
    }
    double y(double messages) const {
        const double share = std::log10(std::max(messages, 1.0)) / std::log10(messages_max);
        return height - bottom - (height - top - bottom) * share;
    }
};

Scale scale_of(const std::vector<Curve>& curves) {
    Scale scale;
    scale.nodes_min = SIZE_MAX;
    scale.nodes_max = 0;
    std::uint64_t most = 1;
    for (const Curve& curve : curves)
        for (const auto& [nodes, messages] : curve.points) {
            scale.nodes_min = std::min(scale.nodes_min, nodes);
            scale.nodes_max = std::max(scale.nodes_max, nodes);
            most = std::max(most, messages);
        }
    if (scale.nodes_max <= scale.nodes_min) scale.nodes_max = scale.nodes_min + 1;
    while (scale.messages_max < static_cast<double>(most)) scale.messages_max *= 10;
    return scale;
}

void add_axes(std::string& out, const Scale& scale) {
    for (double messages = 1; messages <= scale.messages_max; messages *= 10)
        out += fmt::format(
            "<line class='grid' x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}'/>"
            "<text x='{3}' y='{4:.1f}' text-anchor='end'>{5:.0f}</text>\n",
            left, width - right, scale.y(messages), left - 8, scale.y(messages) + 4, messages);
    for (std::size_t nodes = scale.nodes_min; nodes <= scale.nodes_max; ++nodes) {
        if (nodes % 4 != 0 && nodes != scale.nodes_min && nodes != scale.nodes_max) continue;
        out += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n",
                           scale.x(nodes), height - bottom + 20, nodes);
    }
    out += fmt::format("<text x='{}' y='{}' text-anchor='middle'>nodes</text>\n",
                       (left + width - right) / 2, height - 8);
}

}  // namespace

std::string chart_svg(const std::string& title, const std::vector<Curve>& curves) {
    const Scale scale = scale_of(curves);
    std::string out = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
        "font-family='sans-serif' font-size='13'>\n"
        "<style>text{{fill:#222}} .grid{{stroke:#ccc}} .paper{{fill:#fff}}"
        "@media(prefers-color-scheme:dark){{text{{fill:#ddd}} .grid{{stroke:#444}} "
        ".paper{{fill:#16181c}}}}</style>\n"
        "<rect class='paper' width='{0}' height='{1}'/>\n"
        "<text x='{2}' y='24' font-size='16'>{3}</text>\n",
        width, height, left, title);
    add_axes(out, scale);
    double legend = top + 8;
    for (const Curve& curve : curves) {
        std::string points;
        for (const auto& [nodes, messages] : curve.points)
            points += fmt::format("{:.1f},{:.1f} ", scale.x(nodes),
                                  scale.y(static_cast<double>(messages)));
        const std::string dash = curve.dashed ? " stroke-dasharray='5 4'" : "";
        out += fmt::format(
            "<polyline fill='none' stroke='{0}' stroke-width='2'{1} points='{2}'/>\n"
            "<line x1='{3}' x2='{4}' y1='{5}' y2='{5}' stroke='{0}' stroke-width='2'{1}/>"
            "<text x='{6}' y='{7}'>{8}</text>\n",
            curve.color, dash, points, width - right + 14, width - right + 44, legend,
            width - right + 50, legend + 4, curve.name);
        legend += 22;
    }
    return out + "</svg>\n";
}

}  // namespace bullring::sim
