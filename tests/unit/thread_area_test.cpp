// What shares this process's memory by clone() has an errno of its own.
#include "src/os/thread_area.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The thread sanitizer takes clone() for a fork of a program with threads, and ends it.
#if !defined(__SANITIZE_THREAD__)

namespace {

int fail_once(void* wrong) {
    ::syscall(SYS_close, -1);
    *static_cast<std::atomic<int>*>(wrong) = errno;
    ::syscall(SYS_exit, 0);
    return 0;
}

}  // namespace

TEST_CASE("thread area: a process in the same memory has an errno of its own") {
    const bullring::ThreadArea area;
    constexpr std::size_t stack_bytes = 64 * 1024;
    const auto stack = std::make_unique<std::byte[]>(stack_bytes);
    std::atomic<int> seen_there{0};
    errno = 0;
    const int process = ::clone(&fail_once, stack.get() + stack_bytes, CLONE_VM | CLONE_SETTLS,
                                &seen_there, nullptr, area.pointer());
    REQUIRE(process > 0);
    REQUIRE(::waitpid(process, nullptr, __WALL) == process);
    CHECK(seen_there == EBADF);
    CHECK(errno == 0);
}

#endif
