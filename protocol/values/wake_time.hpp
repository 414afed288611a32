// Collects the deadlines of a node and answers how long its host may sleep. A deadline that is due
// already is left out: it has been handled in the step that this follows, or waits for something
// else.
#pragma once

#include <algorithm>

#include "protocol/values/time.hpp"

namespace bullring::protocol {

class WakeTime {
public:
    explicit WakeTime(Instant now) : now_(now) {}

    Instant now() const { return now_; }
    /// An ordinary timer.
    void timer(Instant at) { consider(elapsed(now_, at)); }
    /// Ends with the first of the two clocks, and is looked at again before.
    void lease(Instant end) { consider(lease_wait(now_, end)); }
    /// Ends with the last of the two clocks.
    void promise(Instant end) { consider(promise_left(now_, end)); }
    Duration left() const { return left_; }

private:
    void consider(Duration left) {
        if (left.ns > 0) left_ = std::min(left_, left);
    }

    Instant now_;
    Duration left_ = forever;
};

}  // namespace bullring::protocol
