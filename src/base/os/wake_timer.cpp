#include "src/base/os/wake_timer.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "src/base/os/boottime_timer.hpp"

namespace bullring {

namespace {

int create_timer() {
    OwnedFd timer = make_boottime_timer();
    if (!timer) throw std::system_error(errno, std::generic_category(), "cannot make a timer");
    return timer.release();
}

}  // namespace

WakeTimer::WakeTimer(asio::io_context& io, std::function<void()> on_due)
    : descriptor_(io, create_timer()), on_due_(std::move(on_due)) {
    wait();
}

void WakeTimer::arm_at(std::int64_t boottime_ns) {
    if (boottime_ns >= armed_for_ns_ && boottime_ns - armed_for_ns_ <= early_max_ns) return;
    armed_for_ns_ = boottime_ns;
    if (!arm_boottime_timer(descriptor_.native_handle(), boottime_ns))
        throw std::system_error(errno, std::generic_category(), "timerfd_settime");
}

void WakeTimer::wait() {
    descriptor_.async_wait(
        asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
            if (error) return;  // the loop is being taken down
            std::uint64_t expirations = 0;
            if (::read(descriptor_.native_handle(), &expirations, sizeof expirations) > 0) {
                last_due_ns_ = std::exchange(armed_for_ns_, INT64_MAX);
                on_due_();
            }
            wait();
        });
}

}  // namespace bullring
