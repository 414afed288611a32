#include "sim/swarm/fault_kinds.hpp"

#include <algorithm>
#include <array>

namespace bullring::sim {

namespace {

constexpr std::array<std::string_view, fault_kinds> names{
    "crash",     "power",     "stop",         "pause", "suspend", "slow",   "clock",
    "partition", "one-way",   "flap",         "reset", "forget",  "flip",   "disk-lost",
    "disk-torn", "disk-slow", "disk-failing", "task",  "health",  "resign", "second-process",
};

}  // namespace

std::string_view name(FaultKind kind) { return names[static_cast<std::size_t>(kind)]; }

std::optional<std::vector<FaultKind>> parse_fault_kinds(std::string_view text) {
    std::vector<FaultKind> kinds;
    if (text == "all") {
        for (std::size_t i = 0; i < fault_kinds; ++i) kinds.push_back(static_cast<FaultKind>(i));
        return kinds;
    }
    if (text == "none") return kinds;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto found = std::find(names.begin(), names.end(), text.substr(0, comma));
        if (found == names.end()) return std::nullopt;
        kinds.push_back(static_cast<FaultKind>(found - names.begin()));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return kinds;
}

}  // namespace bullring::sim
