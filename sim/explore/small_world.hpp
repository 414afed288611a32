// A world that is moved by hand, and who judges it, as a value: what a search goes through.
#pragma once

#include <optional>
#include <vector>

#include "sim/check/checks.hpp"
#include "sim/explore/moves.hpp"

namespace bullring::sim::explore {

/// More members than this are no small world.
inline constexpr std::size_t small_world_nodes_max = 7;

/// Makes a broken BULLRING_ASSERT of the protocol a violation instead of the end of the process,
/// for the rest of the process.
void catch_broken_assertions();
/// The world makes the move; what the checks see about it, or an assertion, is the first violation.
void make(World& world, Checks& checks, const Move& move);

struct SmallWorld {
    /// It begins as the settings say.
    SmallWorld(const Settings& settings, FaultKinds kinds, unsigned faults)
        : world(settings), checks(world), fault_kinds(kinds), faults_left(faults) {
        world.watch(checks);
        begin(world);
    }
    SmallWorld(const SmallWorld& other)
        : world(other.world),
          checks(other.checks),
          fault_kinds(other.fault_kinds),
          faults_left(other.faults_left) {
        world.watch(checks);
    }
    SmallWorld& operator=(const SmallWorld&) = default;

    void find_moves(std::vector<Move>& out) const {
        explore::find_moves(world, faults_left > 0 ? fault_kinds : FaultKinds(), out);
    }
    void make(const Move& move) {
        if (is_fault(move.kind)) --faults_left;
        explore::make(world, checks, move);
    }

    World world;
    Checks checks;
    FaultKinds fault_kinds;
    unsigned faults_left;  // together
};

}  // namespace bullring::sim::explore
