// One change of leader as one node saw it, drawn for a screen as narrow as a phone's: time runs
// down, the node's own line is on the left, those of its peers are beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/diagram/looks.hpp"
#include "protocol/diagram/trace.hpp"

namespace bullring::protocol::diagram {

/// The subject of the picture. Times are those of TraceRecord::t_ns.
struct FailoverStory {
    std::uint64_t node = 0;  // whose records they are
    std::uint64_t from = 0;  // who led before; 0: nobody
    std::uint64_t to = 0;    // who leads now; 0: nobody
    std::uint64_t epoch = 0;
    std::int64_t lost_ns = 0;    // the axis has its 0 here
    std::int64_t found_ns = 0;   // when the node knew the new leader
    std::int64_t silent_ns = 0;  // so long before lost_ns the leader had given no sign of life
    std::string quorum;          // "majority" or "none"
    std::size_t left_out = 0;    // of the records, before they came here
};

enum class StyleSheet : std::uint8_t {
    inside,   // a file of its own, light or dark as the reader's browser prefers
    outside,  // failover_style() in the page that the picture becomes a part of
};

enum class LegendPlace : std::uint8_t {
    below,    // a picture that is looked at alone
    nowhere,  // one of several, which have failover_legend_svg() in common
};

/// Records of other nodes are passed over. Of more than the picture can hold, those in the middle
/// are left out, and the picture says so: its size has a bound, whatever the records say.
std::string failover_svg(const std::vector<TraceRecord>& records, const FailoverStory& story,
                         StyleSheet style = StyleSheet::inside,
                         LegendPlace legend = LegendPlace::below);

/// One change, as failover_svg() takes it.
struct DrawnFailover {
    std::vector<TraceRecord> records;
    FailoverStory story;
};

/// The meaning of the lines and bars in all these pictures: a picture of its own, as wide as they
/// are.
std::string failover_legend_svg(const std::vector<DrawnFailover>& failovers);

/// The rules for all pictures of failover_svg, light and dark. They hold for every SVG of the page
/// that they stand in: they name `text` and plain classes such as `.lane`.
std::string failover_style();

}  // namespace bullring::protocol::diagram
