#include "sim/swarm/fault_kinds.hpp"

#include <algorithm>

#include "protocol/values/names.hpp"

namespace bullring::sim {

const char* name(FaultKind kind) {
    switch (kind) {
        case FaultKind::crash: return "crash";
        case FaultKind::power: return "power";
        case FaultKind::stop: return "stop";
        case FaultKind::pause: return "pause";
        case FaultKind::suspend: return "suspend";
        case FaultKind::slow: return "slow";
        case FaultKind::clock: return "clock";
        case FaultKind::partition: return "partition";
        case FaultKind::one_way: return "one-way";
        case FaultKind::flap: return "flap";
        case FaultKind::reset: return "reset";
        case FaultKind::forget: return "forget";
        case FaultKind::forged_fin: return "forged-fin";
        case FaultKind::flip: return "flip";
        case FaultKind::disk_lost: return "disk-lost";
        case FaultKind::disk_torn: return "disk-torn";
        case FaultKind::disk_slow: return "disk-slow";
        case FaultKind::disk_failing: return "disk-failing";
        case FaultKind::task: return "task";
        case FaultKind::health: return "health";
        case FaultKind::resign: return "resign";
        case FaultKind::second: return "second-process";
    }
    return protocol::no_name;
}

std::optional<std::vector<FaultKind>> parse_fault_kinds(std::string_view text) {
    if (text == "all") return protocol::enumerators<FaultKind>();
    std::vector<FaultKind> kinds;
    if (text == "none") return kinds;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const auto kind = protocol::named<FaultKind>(text.substr(0, comma));
        if (!kind) return std::nullopt;
        kinds.push_back(*kind);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return kinds;
}

}  // namespace bullring::sim
