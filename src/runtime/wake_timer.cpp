#include "src/runtime/wake_timer.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/timerfd.h>
#include <unistd.h>

namespace bullring {

namespace {

int create_timer() {
    const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
    return fd;
}

}  // namespace

WakeTimer::WakeTimer(asio::io_context& io, std::function<void()> on_due)
    : descriptor_(io, create_timer()), on_due_(std::move(on_due)) {
    wait();
}

void WakeTimer::arm_at(std::int64_t boottime_ns) {
    if (boottime_ns >= armed_for_ns_) return;
    armed_for_ns_ = boottime_ns;
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t at = std::max<std::int64_t>(boottime_ns, 1);  // zero would disarm it
    itimerspec spec{};
    spec.it_value.tv_sec = at / second;
    spec.it_value.tv_nsec = at % second;
    if (::timerfd_settime(descriptor_.native_handle(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0) {
        throw std::system_error(errno, std::generic_category(), "timerfd_settime");
    }
}

void WakeTimer::wait() {
    descriptor_.async_wait(
        asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
            if (error) return;  // the loop is being taken down
            std::uint64_t expirations = 0;
            if (::read(descriptor_.native_handle(), &expirations, sizeof expirations) > 0) {
                armed_for_ns_ = INT64_MAX;
                on_due_();
            }
            wait();
        });
}

}  // namespace bullring
