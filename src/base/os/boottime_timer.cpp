#include "src/base/os/boottime_timer.hpp"

#include <algorithm>

#include <sys/timerfd.h>

namespace bullring {

OwnedFd make_boottime_timer() {
    return OwnedFd(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

bool arm_boottime_timer(int timer, std::int64_t boottime_ns) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t at = std::max<std::int64_t>(boottime_ns, 1);  // zero would disarm it
    itimerspec spec{};
    spec.it_value.tv_sec = at / second;
    spec.it_value.tv_nsec = at % second;
    return ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr) == 0;
}

void disarm_boottime_timer(int timer) {
    const itimerspec never{};
    ::timerfd_settime(timer, 0, &never, nullptr);
}

}  // namespace bullring
