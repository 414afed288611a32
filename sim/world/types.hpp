// The simulator's own words for time and places, and the protocol's that it uses all over.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"

namespace bullring::sim {

using protocol::Duration;
using protocol::Epoch;
using protocol::Incarnation;
using protocol::Instant;
using protocol::NodeId;
using protocol::SessionId;

/// Real time: nanoseconds since the world began. No node can read it.
using Time = std::int64_t;

inline constexpr Time us = 1'000;
inline constexpr Time ms = 1'000'000;
inline constexpr Time sec = 1'000'000'000;
/// Later than any run.
inline constexpr Time end_of_time = INT64_MAX / 2;

/// A place where a process can run: 0 … N−1 are the members in ascending order of ids, behind them
/// the nodes of a second cluster, if there is one, and behind those the processes that use a
/// member's id by mistake.
using HostIndex = std::size_t;

/// The cluster that a story is about, one beside it that is none of its business, and one of the
/// same name and the same founders that has ended before it began, of which only disks are left.
enum class Site : std::uint8_t { own, neighbour, predecessor };

/// Of a world that is moved by hand every clock runs as real time does, at a distance that shows
/// whose clock, and which of the two, an instant was read from.
inline constexpr unsigned clock_distance_bits = 50;  // 13 days; no such world lives half as long

constexpr Instant clocks_by_hand(HostIndex h, std::size_t hosts) {
    const auto distance = [](std::size_t clock) {
        return static_cast<std::int64_t>(std::uint64_t{clock} << clock_distance_bits);
    };
    return {distance(1 + h), distance(1 + hosts + h)};
}

/// The runs of such a world carry their names: the host, and which of its runs it is.
constexpr Incarnation run_by_hand(HostIndex h, std::uint32_t run) {
    return {(std::uint64_t{h} + 1) << 32U | run};
}

struct Range {
    Time min = 0;
    Time max = 0;
    bool operator==(const Range&) const = default;
};

}  // namespace bullring::sim
