// The kinds of faults that a swarm can switch on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bullring::sim {

enum class FaultKind : std::uint8_t {
    crash,
    power,
    stop,
    pause,
    suspend,
    slow,
    clock,
    partition,
    one_way,
    flap,
    reset,
    forget,
    forged_fin,
    flip,
    disk_lost,
    disk_torn,
    disk_slow,
    disk_failing,
    task,
    health,
    resign,
    second,
};

/// The word of `--faults`.
const char* name(FaultKind kind);

/// "crash,partition", or "all". nullopt when a word is none of them.
std::optional<std::vector<FaultKind>> parse_fault_kinds(std::string_view text);

}  // namespace bullring::sim
