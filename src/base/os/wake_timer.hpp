// Owns: the one timer of a node's loop. It runs on CLOCK_BOOTTIME, so that it is due at once after
// a suspend, and has nanoseconds. It may fire early and says so to nobody: an early Wake is a
// no-op.
#pragma once

#include <cstdint>
#include <functional>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include "protocol/values/time.hpp"

namespace bullring {

class WakeTimer {
public:
    WakeTimer(asio::io_context& io, std::function<void()> on_due);

    /// Fires at `at` (CLOCK_BOOTTIME) or a little earlier. An armed time that is as good as this
    /// one is left as it is: most messages change nothing. One that would be over well before is
    /// put off: to be woken for nothing costs more than the system call.
    void arm_at(std::int64_t boottime_ns);
    /// For when it was armed when it last fired; 0: it has not.
    std::int64_t last_due_ns() const { return last_due_ns_; }

private:
    /// An early wake that is not worth a system call.
    static constexpr std::int64_t early_max_ns = 1'000'000;

    void wait();

    asio::posix::stream_descriptor descriptor_;
    std::function<void()> on_due_;
    std::int64_t armed_for_ns_ = INT64_MAX;
    std::int64_t last_due_ns_ = 0;
};

}  // namespace bullring
