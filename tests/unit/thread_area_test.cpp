// Tests that a process that shares this one's memory by clone() has an errno of its own.
#include "src/watch/thread_area.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/sanitizers.hpp"

namespace {

int fail_once(void* wrong) {
    ::syscall(SYS_close, -1);
    *static_cast<std::atomic<int>*>(wrong) = errno;
    ::syscall(SYS_exit, 0);
    return 0;
}

}  // namespace

TEST_CASE("thread area: a process in the same memory has an errno of its own") {
    if (bullring::thread_sanitizer) return;
    const bullring::ThreadArea area;
    constexpr std::size_t stack_bytes = 64 * 1024;
    const auto stack = std::make_unique<std::byte[]>(stack_bytes);
    std::atomic<int> seen_there{0};
    errno = 0;
    const int process = ::clone(&fail_once, stack.get() + stack_bytes, CLONE_VM | CLONE_SETTLS,
                                &seen_there, nullptr, area.pointer());
    const pid_t ended = ::waitpid(process, nullptr, __WALL);
    const int seen_here = errno;
    CHECK(ended == process);
    CHECK(seen_there == EBADF);
    CHECK(seen_here == 0);
}
