// Owns: the last line of the event stream of a node that has died as the leader, without a word.
// The process that outlives it writes it: so it is made and written by system calls alone, without
// what the C library keeps, which may be the dead one's and locked.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "src/watch/loop_pulse.hpp"

namespace bullring {

/// `deposed`, with its keys in their order.
class LastEventLine {
public:
    struct Facts {
        std::int64_t ts_ns = 0;
        std::int64_t wall_clock_ns = 0;
        std::uint64_t node = 0;
        std::uint64_t epoch = 0;
        bool hung = false;  // it was killed for standing still; else it has died of whatever
        std::int64_t held_until_ns = 0;
    };
    explicit LastEventLine(const Facts& facts);

    std::string_view text() const { return {text_.data(), size_}; }
    /// The part that says which leadership has ended: the same in every line that does.
    std::string_view subject() const {
        return text().substr(subject_begin_, subject_end_ - subject_begin_);
    }

private:
    void add(std::string_view part);
    void add(std::uint64_t number);

    std::array<char, 320> text_{};
    std::size_t size_ = 0;
    std::size_t subject_begin_ = 0;
    std::size_t subject_end_ = 0;
};

/// Once, if the beginning of that leadership has been written and its end has not. `path`: of the
/// events file; "-": stdout; empty: there is none. A file that can't be written loses it.
/// `acted_ns`: when somebody other than the node is known to have acted as the leader.
void tell_last_event(LoopPulse& pulse, const char* path, std::uint64_t node, bool hung,
                     std::int64_t acted_ns = 0);

}  // namespace bullring
