// The faults of a drill by their names, and the list of them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "src/wire/observer_messages.hpp"

namespace bullring {

inline constexpr std::array all_faults{DrillRequest::crash, DrillRequest::hang,
                                       DrillRequest::resign, DrillRequest::cut};

const char* name(DrillRequest what);

/// "crash,cut": each at most once, in the order given. The error is for people.
tl::expected<std::vector<DrillRequest>, std::string> parse_faults(const std::string& text);

}  // namespace bullring
