// Judges the leaderships of a cluster: whether two overlapped and whether epochs rose with time,
// and what of that the streams do not show.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/values/time.hpp"
#include "src/verify/audit/history.hpp"

namespace bullring::audit {

/// Why something was not proved.
enum class Gap : std::uint8_t {
    end_unknown,     // and another leadership began before it was over for certain
    begin_unknown,   // only the end of a leadership was seen
    not_elected,     // others followed a leader whose election was not seen
    too_close,       // two leaderships on two clocks, closer than the clocks' error
    no_stream,       // a member of which no line was seen
    torn_line,       // cut short when its writer died or its disk was full
    lost_events,     // a stream that could not be written for a while
    no_boot,         // a stream that does not record its clock
    without_quorum,  // --quorum none promises nothing
};
constexpr std::size_t gaps_count = static_cast<std::size_t>(Gap::without_quorum) + 1;
const char* name(Gap gap);

struct GapReport {
    std::size_t count = 0;
    std::vector<std::string> shown;  // the first of them
};

struct Verdict {
    std::vector<Leadership> leaderships;  // in the order in which they began
    std::vector<Contradiction> contradictions;
    std::array<GapReport, gaps_count> gaps;
    std::size_t clocks = 0;     // on which leaderships were held
    std::size_t open_ends = 0;  // nothing began after them

    bool proved() const;
};

/// Of a history that is closed. `clock_error`: how far two hosts' wall clocks are apart at most.
Verdict judge(const History& history, protocol::Duration clock_error);

}  // namespace bullring::audit
