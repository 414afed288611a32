#include "src/base/os/watch_child.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/values/assert.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

/// How often a child is looked at that can't be waited for.
constexpr int look_every_ms = 10;

bool has_ended(pid_t child) {
    siginfo_t end{};
    // An error means that somebody else has reaped it.
    return ::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           end.si_pid == child;
}

}  // namespace

ChildWatch watch_child(pid_t child, std::initializer_list<int> others, int timeout_ms) {
    BULLRING_ASSERT(others.size() <= 3);
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
    // Not pidfd_open(): the C library's header does not say that it is a C function.
    const OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    while (true) {
        int left_ms = timeout_ms;
        if (timeout_ms >= 0) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
            left_ms = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
        }
        const bool last = left_ms == 0;
        if (!process) left_ms = left_ms < 0 ? look_every_ms : std::min(left_ms, look_every_ms);
        std::array<pollfd, 4> ready{{{process.get(), POLLIN, 0}}};
        std::size_t count = 1;
        for (const int other : others) ready[count++] = {other, POLLIN, 0};
        const bool any = ::poll(ready.data(), count, left_ms) > 0;
        if ((any && ready[0].revents != 0) || (!process && has_ended(child)))
            return ChildWatch::ended;
        if (any) return ChildWatch::woken;
        if (last) return ChildWatch::timeout;
    }
}

}  // namespace bullring
