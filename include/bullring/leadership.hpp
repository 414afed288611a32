// Owns: one leadership, as the task that works under it sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <bullring/export.hpp>

namespace bullring {

/// Cheap to copy; may outlive the leadership, and the node. Every member may be called from any
/// thread. The lease's rules are those of protocol/lease/README.md, R3.
class BULLRING_API Leadership {
public:
    /// The fencing token: hand it to what the task writes to, and let that refuse lower ones.
    std::uint64_t epoch() const noexcept;
    /// Whether nobody else can lead now, judged against the clocks at every call, without a lock;
    /// less than 100 ns. Nothing bounds a pause after the call: for that there is the fencing
    /// token.
    bool valid() const noexcept;
    /// Until the lease ends, if it is not renewed; 0 when valid() is false.
    std::chrono::nanoseconds time_left() const noexcept;
    /// Stop is requested when the leadership ends, or is about to: `stop_margin` before the lease
    /// does. The task has that long to return.
    std::stop_token stop_token() const noexcept;
    /// The task gets on (see Options::stall_after). Less than 100 ns.
    void report_progress() const noexcept;
    /// Waits, but not longer than until stop is requested. Whether all of `time` has passed. A
    /// negative one is none; nanoseconds::max() waits for the stop alone.
    bool wait_for(std::chrono::nanoseconds time) const;

private:
    friend class NodeCore;
    struct State;
    explicit Leadership(std::shared_ptr<State> state) noexcept;

public:
    Leadership(const Leadership&) noexcept;
    Leadership(Leadership&&) noexcept;
    Leadership& operator=(const Leadership&) noexcept;
    Leadership& operator=(Leadership&&) noexcept;
    ~Leadership();

private:
    std::shared_ptr<State> state_;
};

}  // namespace bullring
