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
    /// When an answer last said that the node leads, by another thread than the loop's.
    std::atomic<std::int64_t> said_ns{0};
    /// Of the last lease.
    std::atomic<std::int64_t> lease_end_ns{0};
    /// Processes that outlive this one may work under the leadership, until the end of its lease: a
    /// bit for each kind.
    std::atomic<std::uint32_t> others_work{0};
    static constexpr std::uint32_t hooks_work = 1;
    static constexpr std::uint32_t lead_works = 2;
    static constexpr std::uint32_t attached_works = 4;
    /// An attached process works that the undertaker ends: when the node has ended, and then. 0:
    /// none does, or the undertaker has done so.
    std::atomic<std::int64_t> client_until_ns{0};
    /// When the undertaker has seen its end.
    std::atomic<std::int64_t> client_ended_ns{0};
    /// The epoch of a leadership whose beginning stands in the event stream, and its end does not.
    std::atomic<std::uint64_t> recorded{0};
    /// The epoch of the last leadership whose end was about to be written there.
    std::atomic<std::uint64_t> recording_end{0};
    /// The epoch of the last leadership that the loop has ended, and until when that was held.
    std::atomic<std::uint64_t> ended{0};
    std::atomic<std::int64_t> ended_at_ns{0};
    /// Not 0 while the loop does what has to wait for others, who may have no core.
    std::atomic<std::uint32_t> excused{0};
    /// Not 0 once the loop has ended in order: the node itself reports what is left to report.
    std::atomic<std::uint32_t> over{0};
    /// Its keeper has killed it.
    std::atomic<std::uint32_t> hung{0};

    /// The loop's thread.
    void turn() {
        turns.store(turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
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

    /// The loop's thread, before any message of the step leaves.
    void end(std::uint64_t epoch, std::int64_t held_until_ns) {
        ended_at_ns.store(held_until_ns);
        ended.store(epoch);
    }

    /// Of one thread, which is not the loop's.
    void say(std::int64_t now_ns) { said_ns.store(now_ns, std::memory_order_relaxed); }

    /// Somebody that outlives the node may act under its leadership now.
    bool others_act() const { return others_work.load() != 0 || client_until_ns.load() != 0; }

    /// When the node is dead: the last instant at which anybody could act as the leader of `epoch`,
    /// the last one that was recorded. `acted_ns`: at which somebody else is known to have.
    std::int64_t held_until_ns(std::uint64_t epoch, std::int64_t acted_ns = 0) const {
        if (ended.load() == epoch) return ended_at_ns.load();
        const std::int64_t lease_end = lease_end_ns.load();
        if (others_act()) return lease_end;
        return std::min(
            std::max({last_step_ns.load(), said_ns.load(), client_ended_ns.load(), acted_ns}),
            lease_end);
    }
};

}  // namespace bullring
