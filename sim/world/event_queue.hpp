// Owns: the future events, in order of time and, at one instant, in the order in which they were
// scheduled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/world/types.hpp"

namespace bullring::sim {

enum class Happening : std::uint8_t {
    wake,            // a: host, b: its run
    parcel,          // a: connection, b: side that reads
    dial,            // a: host, b: its run, c: peer
    connected,       // a: host, b: its run, c: peer
    handshake_late,  // a: connection
    unanswered,      // a: connection, b: side that has sent
    broken,          // a: connection, b: side that notices
    persisted,       // a: host, b: its run
    task_ended,      // a: host, b: its run, c: the epoch
    notice,          // a: host that gets it, c: which death
    client,          // a: client, b: the run it is connected to, c: the sign
    look,            // a: host, b: its run: the candidacies have something to do
};

struct Scheduled {
    Time at = 0;
    std::uint64_t sequence = 0;
    std::uint64_t a = 0;
    std::uint32_t b = 0;
    std::uint64_t c = 0;
    Happening what = Happening::wake;
};

/// A binary heap of small values.
class EventQueue {
public:
    void close() { closed_ = true; }
    void push(Time at, Happening what, std::uint64_t a, std::uint32_t b = 0, std::uint64_t c = 0) {
        if (closed_) return;
        heap_.push_back({at, next_++, a, b, c, what});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    bool empty() const { return heap_.empty(); }
    Time next_at() const { return heap_.empty() ? end_of_time : heap_.front().at; }
    Scheduled pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Scheduled first = heap_.back();
        heap_.pop_back();
        return first;
    }

private:
    static bool later(const Scheduled& x, const Scheduled& y) {
        return x.at != y.at ? x.at > y.at : x.sequence > y.sequence;
    }

    std::vector<Scheduled> heap_;
    std::uint64_t next_ = 0;
    bool closed_ = false;  // somebody else says what happens, and when
};

}  // namespace bullring::sim
