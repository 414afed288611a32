// Judges whether a thread that should turn all the time stands still: stopped, traced, blocked, or
// busy with one and the same thing. No clock and no process: looks go in.
//
// While the thread turns it is enough to see that it does. Once it has been quiet for three eighths
// of the limit it is looked at, and more often. Only what the thread owes counts. An interval at
// whose end the watcher itself was late shows nothing: the machine, or the watcher's part of it,
// stood still. Nor does an interval in which the thread could run and had no core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "protocol/values/time.hpp"

namespace bullring {

/// The kernel's data on a thread.
struct ThreadLook {
    char state = 'R';          // as /proc/PID/stat has it
    std::int64_t ran_ns = -1;  // on a core, since it began; −1: not known
};

class Standstill {
public:
    enum class Verdict {
        turns,   // for all that is known
        ask,     // it may only have had nothing to do: it is to be woken
        stands,  // for as long as was set
    };

    /// In the place of a state: whatever the thread does, nothing counts.
    static constexpr char excused = '-';

    explicit constexpr Standstill(protocol::Duration limit)
        : limit_(limit),
          quiet_for_(std::max(limit * 3 / 8, protocol::microseconds(500))),
          every_(std::max(limit / 8, protocol::microseconds(500))) {}

    /// How long to wait before the next moves() and, if it is needed, look().
    constexpr protocol::Duration wait() const { return wait_; }

    /// Whether it has turned since it was last asked; then there is nothing more to be looked at.
    /// `turns` rises with each turn, one of which was at `turn_seen`.
    constexpr bool moves(protocol::Duration now, std::uint64_t turns,
                         protocol::Duration turn_seen) {
        if (turns == turns_) return false;
        turns_ = turns;
        turned_at_ = std::min(now, std::max(turn_seen, before_));
        before_ = now;
        wait_ = std::max(turned_at_ + quiet_for_ - now, every_ / 2);
        stood_ = none;
        quiet_ = asked_ = false;
        return true;
    }

    constexpr Verdict look(protocol::Duration now, ThreadLook thread) {
        const protocol::Duration passed = now - before_;
        const bool in_time = passed <= wait_ + every_ / 2;
        protocol::Duration counted = none;
        if (in_time && quiet_) counted = std::min(owed(passed, thread), passed);
        // It may have had nothing to do for a while before it stopped.
        if (in_time && !quiet_ && idles(thread.state))
            counted = std::max(std::min(now - turned_at_, quiet_for_) - every_ / 2, none);
        before_ = now;
        stood_ = stood_ + counted;
        wait_ = std::clamp(limit_ - stood_, every_ / 4, every_);
        ran_ns_ = thread.ran_ns;
        idled_ = idles(thread.state);
        quiet_ = true;
        // It stands at this very moment, too.
        if (stood_ >= limit_ && counted > none) return Verdict::stands;
        return std::exchange(asked_, true) ? Verdict::turns : Verdict::ask;
    }

private:
    static constexpr protocol::Duration none{0};

    /// Whether a thread in this state does nothing that it should do.
    constexpr bool idles(char state) const {
        switch (state) {
            case 'T':  // stopped
            case 't':  // traced
            case 'D':  // in the kernel
                return true;
            // A thread that was woken, and sleeps nevertheless, does not wait for work.
            case 'S': return asked_;
            default: return false;  // it runs, waits for a core, is dead, or nothing that is known
        }
    }

    /// Of the interval that ends now.
    constexpr protocol::Duration owed(protocol::Duration passed, ThreadLook thread) const {
        if (thread.state != 'R') return idled_ && idles(thread.state) ? passed : none;
        // The time that it ran; for the rest it waited for a core.
        return ran_ns_ < 0 || thread.ran_ns < 0 ? none
                                                : protocol::Duration{thread.ran_ns - ran_ns_};
    }

    protocol::Duration limit_;
    protocol::Duration quiet_for_;
    protocol::Duration every_;
    protocol::Duration wait_ = none;
    std::uint64_t turns_ = UINT64_MAX;
    protocol::Duration turned_at_ = none;
    protocol::Duration before_ = none - protocol::forever;  // the last time that it was asked
    bool quiet_ = false;                                    // it was looked at then
    bool idled_ = false;                                    // as it was then
    std::int64_t ran_ns_ = -1;
    protocol::Duration stood_;
    bool asked_ = false;
};

}  // namespace bullring
