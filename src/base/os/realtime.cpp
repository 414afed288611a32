#include "src/base/os/realtime.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

namespace bullring {

namespace {

// Above ordinary processes, below the kernel's own threads.
constexpr int fifo_priority = 10;

bool is_realtime(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

}  // namespace

tl::expected<void, std::string> make_thread_realtime() {
    sched_param priority{};
    priority.sched_priority = fifo_priority;
    if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) != 0) {
        return tl::unexpected(fmt::format(
            "SCHED_FIFO is not permitted ({}): give the program CAP_SYS_NICE or a limit for rtprio",
            std::generic_category().message(errno)));
    }
    // ONFAULT: what is never touched, such as most of each thread's stack, needs no memory.
    if (::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        return tl::unexpected(fmt::format(
            "memory cannot be locked ({}): give the program CAP_IPC_LOCK or a limit for memlock",
            std::generic_category().message(errno)));
    }
    return {};
}

int run_first() {
    const int policy = ::sched_getscheduler(0);
    sched_param priority{};
    priority.sched_priority = fifo_priority;
    if (!is_realtime(policy)) ::sched_setscheduler(0, SCHED_FIFO, &priority);
    return policy;
}

void run_as(int policy) {
    const sched_param none{};
    if (!is_realtime(policy)) ::sched_setscheduler(0, policy, &none);
}

void run_last() {
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
}

}  // namespace bullring
