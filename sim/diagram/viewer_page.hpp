// Owns: the page on which a run is looked at, as one file that stands alone: the viewer of
// src/viewer/ with traces inside. Must not read what the traces say; the viewer does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bullring::sim::diagram {

struct NamedTrace {
    std::string name;
    std::string text;  // lines of protocol/trace/trace.hpp, or anything else
};

/// The viewer's first look at them.
struct FirstLook {
    std::string title;  // empty: what happens there
    std::optional<std::int64_t>
        from_ns;  // from the traces' beginning; neither: around the elections
    std::optional<std::int64_t> to_ns;
    std::string theme = "auto";
    std::string scale = "auto";
    bool heartbeats = false;
};

std::string viewer_page(const std::vector<NamedTrace>& traces, const FirstLook& look);

struct ViewerHalves {
    std::string_view before;
    std::string_view after;
};
/// The page without what is looked at. Made from src/viewer/ by embed.cmake.
ViewerHalves viewer_halves();

}  // namespace bullring::sim::diagram
