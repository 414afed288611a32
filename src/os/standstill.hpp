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
    char state = 'R';         // as /proc/PID/stat has it
    std::int64_t ran_ns = 0;  // on a core, since it began
};

class Standstill {
public:
    enum class Verdict {
        quiet,   // it has not; perhaps it had nothing to do
        ask,     // it has not for a while: it is to be woken
        stands,  // for as long as was set
    };

    explicit constexpr Standstill(protocol::Duration limit)
        : limit_(limit), every_(std::max(limit / 8, protocol::microseconds(500))) {}

    /// From one look to the next.
    constexpr protocol::Duration every() const { return every_; }

    /// Nothing is known of the time before.
    constexpr void begin(protocol::Duration now, std::uint64_t turns) {
        before_ = now;
        turns_ = turns;
        forget();
    }

    /// True: it turns, and there is nothing more to be looked at.
    constexpr bool turned(protocol::Duration now, std::uint64_t turns) {
        if (turns == turns_) return false;
        begin(now, turns);
        return true;
    }

    /// After turned() has said no.
    constexpr Verdict look(protocol::Duration now, ThreadLook thread) {
        const protocol::Duration passed = now - before_;
        const bool in_time = passed <= every_ + every_ / 2;
        const protocol::Duration counted = in_time ? std::min(owed(passed, thread), passed) : none;
        before_ = now;
        stood_ = stood_ + counted;
        ran_ns_ = thread.ran_ns;
        ++quiet_looks_;
        // It stands at this very moment, too.
        if (stood_ >= limit_ && counted > none) return Verdict::stands;
        if (asked_ || quiet_looks_ < quiet_looks_max) return Verdict::quiet;
        asked_ = true;
        return Verdict::ask;
    }

private:
    static constexpr protocol::Duration none{0};
    /// A thread that waits for work may have none for so many looks.
    static constexpr int quiet_looks_max = 2;

    constexpr void forget() {
        stood_ = none;
        ran_ns_ = -1;
        quiet_looks_ = 0;
        asked_ = false;
    }

    /// Of the interval that ends now.
    constexpr protocol::Duration owed(protocol::Duration passed, ThreadLook thread) const {
        switch (thread.state) {
            case 'T':  // stopped
            case 't':  // traced
            case 'D':  // in the kernel
                return passed;
            case 'S':
                // Who has been woken, and sleeps nevertheless, does not wait for work.
                return asked_ ? passed : none;
            case 'R':
                // What it ran; the rest of the time it waited for a core.
                return ran_ns_ < 0 ? none : protocol::Duration{thread.ran_ns - ran_ns_};
            default: return none;  // dead, or nothing that is known
        }
    }

    protocol::Duration limit_;
    protocol::Duration every_;
    protocol::Duration before_;
    protocol::Duration stood_;
    std::uint64_t turns_ = 0;
    std::int64_t ran_ns_ = -1;  // at the look before; -1: not looked at
    int quiet_looks_ = 0;
    bool asked_ = false;
};

}  // namespace bullring
