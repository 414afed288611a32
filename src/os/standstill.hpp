// Judges whether a thread that should turn all the time stands still: stopped, traced, blocked, or
// busy with one and the same thing. No clock and no process: looks go in.
//
// Only what the thread owes counts. An interval at whose end the watcher itself was late tells
// nothing: the machine, or the watcher's part of it, stood still. Nor does an interval in which the
// thread could run and had no core.
#pragma once

#include <algorithm>
#include <cstdint>

#include "protocol/values/time.hpp"

namespace bullring {

/// What the system says of a thread.
struct ThreadLook {
    char state = 'R';          // as /proc/PID/stat has it
    std::int64_t ran_ns = -1;  // on a core, since it began; −1: not known
};

class Standstill {
public:
    enum class Verdict {
        turns,   // or had nothing to do
        ask,     // it has not for a while: it is to be woken
        stands,  // for as long as was set
    };

    /// In the place of a state: whatever the thread does, nothing counts.
    static constexpr char excused = '-';

    explicit constexpr Standstill(protocol::Duration limit)
        : limit_(limit), every_(std::max(limit / 8, protocol::microseconds(500))) {}

    /// From one look to the next.
    constexpr protocol::Duration every() const { return every_; }

    /// `turns` rises with each turn.
    constexpr Verdict look(protocol::Duration now, std::uint64_t turns, ThreadLook thread) {
        const bool turned = turns != turns_;
        if (turned) {
            turns_ = turns;
            stood_ = none;
            quiet_looks_ = 0;
            asked_ = false;
        }
        const protocol::Duration passed = now - before_;
        const bool in_time = passed <= every_ + every_ / 2;
        const protocol::Duration counted =
            in_time && !turned ? std::min(owed(passed, thread), passed) : none;
        before_ = now;
        stood_ = stood_ + counted;
        ran_ns_ = thread.ran_ns;
        idled_ = idles(thread.state);
        if (turned) return Verdict::turns;
        // It stands at this very moment, too.
        if (stood_ >= limit_ && counted > none) return Verdict::stands;
        if (asked_ || ++quiet_looks_ < quiet_looks_max) return Verdict::turns;
        asked_ = true;
        return Verdict::ask;
    }

private:
    static constexpr protocol::Duration none{0};
    /// A thread that waits for work may have none for so many looks.
    static constexpr int quiet_looks_max = 2;

    /// Whether a thread in this state does nothing that it should do.
    constexpr bool idles(char state) const {
        switch (state) {
            case 'T':  // stopped
            case 't':  // traced
            case 'D':  // in the kernel
                return true;
            // Who has been woken, and sleeps nevertheless, does not wait for work.
            case 'S': return asked_;
            default: return false;  // it runs, waits for a core, is dead, or nothing that is known
        }
    }

    /// Of the interval that ends now.
    constexpr protocol::Duration owed(protocol::Duration passed, ThreadLook thread) const {
        if (thread.state != 'R') return idled_ && idles(thread.state) ? passed : none;
        // What it ran; the rest of the time it waited for a core.
        return ran_ns_ < 0 || thread.ran_ns < 0 ? none
                                                : protocol::Duration{thread.ran_ns - ran_ns_};
    }

    protocol::Duration limit_;
    protocol::Duration every_;
    protocol::Duration before_ = protocol::Duration{0} - protocol::forever;  // the last look
    protocol::Duration stood_;
    std::uint64_t turns_ = 0;
    std::int64_t ran_ns_ = -1;  // at the look before, as `idled_`
    bool idled_ = false;
    int quiet_looks_ = 0;
    bool asked_ = false;
};

}  // namespace bullring
