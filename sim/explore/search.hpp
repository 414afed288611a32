// Breadth-first search through the states of a small world: every state within a number of moves,
// each once, and the shortest path to the first that must not be. The outcome depends on the start,
// the rules and the bounds alone, not on the number of jobs, unless time or memory cut it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/explore/small_world.hpp"

namespace bullring::sim::explore {

struct SearchBounds {
    unsigned depth_max = UINT32_MAX;
    std::size_t states_max = SIZE_MAX;
    std::chrono::nanoseconds time_max = std::chrono::hours(24 * 365);
    std::size_t memory_max = SIZE_MAX;  // bytes, of the whole process
    unsigned jobs = 1;
};

/// Why a search has ended.
enum class SearchEnd : std::uint8_t { complete, violation, depth, states, time, memory };

struct SearchReport {
    SearchEnd end = SearchEnd::complete;
    std::size_t states = 0;           // distinct
    std::size_t transitions = 0;      // moves made
    std::size_t duplicates = 0;       // of them to a state that was known already
    unsigned depth = 0;               // every state within so many moves has been seen
    std::vector<std::size_t> layers;  // distinct states by depth; the last may be cut
    std::optional<Violation> violation;
    std::vector<Move> path;  // to the violation
    double seconds = 0;
    std::size_t memory = 0;  // the most that the process has used so far, in bytes
};

/// Called after each layer.
using SearchProgress = std::function<void(const SearchReport& so_far)>;

SearchReport search(const SmallWorld& start, const SearchBounds& bounds,
                    const SearchProgress& progress = {});

}  // namespace bullring::sim::explore
