// Owns: what the loop of a node shows of itself to the processes that watch whether it stands
// still. It lies in memory that they share with the node, and is all that is left when the node has
// died.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace bullring {

/// Instants are by CLOCK_BOOTTIME.
struct LoopPulse {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
    static_assert(std::atomic<std::int64_t>::is_always_lock_free);

    /// Each piece of work that the loop has done.
    std::atomic<std::uint64_t> turns{0};
    /// The epoch under which the node leads or steps down; 0: neither.
    std::atomic<std::uint64_t> leads{0};
    /// Since when it has decided nothing.
    std::atomic<std::int64_t> last_step_ns{0};
    /// Of the last lease, or when it was given up.
    std::atomic<std::int64_t> lease_end_ns{0};
    /// Processes that outlive this one may work under the leadership, until the end of its lease.
    std::atomic<std::uint32_t> others_work{0};
    /// The epoch of a leadership whose beginning stands in the event stream, and its end does not.
    std::atomic<std::uint64_t> told{0};
    /// Not 0 while the loop does what has to wait for others, who may have no core.
    std::atomic<std::uint32_t> excused{0};
    /// Not 0 once the loop has ended in order: the node tells what is left to be told.
    std::atomic<std::uint32_t> over{0};
    /// Its keeper has killed it.
    std::atomic<std::uint32_t> hung{0};

    /// The loop's thread.
    void turn() {
        turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    /// The loop's thread: a leadership that is given up in this step ends here, whenever its end
    /// is told.
    void give_up_lease() { lease_end_ns.store(std::min(lease_end_ns.load(), last_step_ns.load())); }
    /// As long as it lives the loop is excused.
    class Excuse {
    public:
        explicit Excuse(LoopPulse& pulse) : pulse_(pulse) { ++pulse_.excused; }
        Excuse(const Excuse&) = delete;
        Excuse& operator=(const Excuse&) = delete;
        ~Excuse() { --pulse_.excused; }

    private:
        LoopPulse& pulse_;
    };

    /// When the node is dead: the last instant at which anybody could act as the leader.
    /// `acted_ns`: at which somebody else is known to have.
    std::int64_t held_until_ns(std::int64_t acted_ns = 0) const {
        const std::int64_t lease_end = lease_end_ns.load();
        if (others_work.load() != 0) return lease_end;
        return std::min(std::max(last_step_ns.load(), acted_ns), lease_end);
    }
};

}  // namespace bullring
