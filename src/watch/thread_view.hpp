// Owns: a view on one thread, of this process or another, by the files that the kernel has about
// it.
#pragma once

#include <optional>

#include <sys/types.h>

#include "src/base/os/owned_fd.hpp"
#include "src/watch/standstill.hpp"

namespace bullring {

class ThreadView {
public:
    /// Without /proc there is nothing to be seen.
    ThreadView(pid_t process, pid_t thread);

    int stat() const { return stat_.get(); }
    int schedstat() const { return schedstat_.get(); }

    /// System calls alone: nothing of the C library that keeps state. nullopt: it is gone, or can't
    /// be seen. What it ran is known of one that runs or waits for a core, and by kernels that
    /// count it.
    std::optional<ThreadLook> look() const;

private:
    OwnedFd stat_;
    OwnedFd schedstat_;
};

}  // namespace bullring
