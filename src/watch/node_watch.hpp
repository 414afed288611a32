// Owns: a guard's doubt about its node, which is its parent. A guard that had to end the command by
// itself, because the lease was about to end, reports it to the node: one that does not turn at
// that stands still, and is killed, so that the guard can have the last word.
#pragma once

#include <optional>

#include <sys/types.h>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/watch/loop_pulse.hpp"
#include "src/watch/standstill.hpp"
#include "src/watch/thread_view.hpp"

namespace bullring {

class NodeWatch {
public:
    /// `limit`: for how long it may stand still; 0: it is never in doubt.
    NodeWatch(const LoopPulse& pulse, protocol::Duration limit);

    /// From now on, until it turns. The report must wake it.
    void doubt();
    void trust();
    /// It has not turned since.
    bool in_doubt() const { return in_doubt_; }

    /// Whether look() is to be called after each wait().
    bool watches() const { return thread_.has_value(); }
    protocol::Duration wait() const { return standstill_.wait(); }
    /// True: it has just been killed.
    bool look();

private:
    const LoopPulse& pulse_;
    protocol::Duration limit_;
    pid_t node_;
    OwnedFd process_;  // of `node_`, whatever that number means later
    std::optional<ThreadView> thread_;
    Standstill standstill_;
    std::uint64_t turns_ = 0;
    bool in_doubt_ = false;
};

}  // namespace bullring
