// The settings of a drill: its faults by their names, and how many of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/time.hpp"
#include "src/observe/observer_options.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

inline constexpr std::array all_faults{DrillRequest::crash, DrillRequest::hang,
                                       DrillRequest::resign, DrillRequest::cut};

const char* name(DrillRequest what);

/// "crash,cut": each at most once, in the order given. The error is for people.
tl::expected<std::vector<DrillRequest>, std::string> parse_faults(const std::string& text);

struct DrillOptions : ObserverOptions {
    // At least one of them.
    std::optional<protocol::Duration> time;  // no round begins later than that
    std::optional<std::int64_t> rounds;
    std::vector<DrillRequest> faults;  // in turn; at least one
    protocol::Duration every;          // from the begin of a round to that of the next
    bool json = false;
};

/// Of fewer members those without the leader are no majority.
inline constexpr std::size_t drill_members_min = 3;

}  // namespace bullring
