#include "src/os/memory_keeper.hpp"

#include <cstddef>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/os/children.hpp"
#include "src/os/owned_fd.hpp"

namespace bullring {

namespace {

// The thread sanitizer takes clone() for a fork of a program with threads, and ends it.
#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool thread_sanitizer = true;
#else
constexpr bool thread_sanitizer = false;
#endif
#else
constexpr bool thread_sanitizer = false;
#endif

constexpr std::size_t stack_bytes = 16 * 1024;
alignas(16) std::byte stack[stack_bytes];

/// The keeper has the memory of the node, the thread's own included, and so must not call anything
/// of the C library that keeps state: system calls alone, none of which fails.
int keep(void* node) {
    const auto node_fd = static_cast<unsigned>(*static_cast<const int*>(node));
    ::syscall(SYS_prctl, PR_SET_NAME, "bullring-keeper", 0, 0, 0);
    if (node_fd > 0) ::syscall(SYS_close_range, 0U, node_fd - 1, 0U);
    ::syscall(SYS_close_range, node_fd + 1, ~0U, 0U);
    // Readable when the last thread of the node is gone, its descriptors closed.
    pollfd gone{static_cast<int>(node_fd), POLLIN, 0};
    while (::syscall(SYS_ppoll, &gone, 1, nullptr, nullptr, 0) == 0) {
    }
    ::syscall(SYS_exit_group, 0);
    return 0;
}

}  // namespace

bool start_memory_keeper() {
    if constexpr (thread_sanitizer) return true;  // its users don't look at latencies
    // Made before the keeper: it must not wait for the wrong process when this one dies meanwhile.
    static int node_fd = -1;
    node_fd = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    const OwnedFd owner(node_fd);
    if (!owner) return false;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all,
                  &before);  // the keeper inherits it: nothing but SIGKILL ends it
    const int keeper = ::clone(&keep, stack + stack_bytes, CLONE_VM, &node_fd);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (keeper > 0) count_as_own({keeper});
    return keeper > 0;
}

}  // namespace bullring
