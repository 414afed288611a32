// Owns: what the loop of a node shows of itself to the processes that watch whether it stands
// still. It lies in memory that they share with the node, and is all that is left when the node has
// died.
#pragma once

#include <atomic>
#include <cstdint>

namespace bullring {

struct LoopPulse {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    /// Each piece of work that the loop has done.
    std::atomic<std::uint64_t> turns{0};
    /// The epoch under which the node leads or steps down; 0: neither.
    std::atomic<std::uint64_t> leads{0};

    /// The loop's thread.
    void turn() {
        turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
};

}  // namespace bullring
