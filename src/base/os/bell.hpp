// Owns: a descriptor by which one thread of a process wakes another one, and never waits for it.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

class Bell {
public:
    /// Throws std::system_error when there are no more descriptors.
    Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (!fd_) throw std::system_error(errno, std::generic_category(), "cannot make an eventfd");
    }

    void ring() const {
        const std::uint64_t one = 1;
        // It can only fail when it has rung 2^64 times unheard.
        [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
    }
    /// It rings no more, until it is rung again.
    void quiet() const {
        std::uint64_t times = 0;
        [[maybe_unused]] const auto read = ::read(fd_.get(), &times, sizeof times);
    }
    /// Readable while it rings.
    int fd() const { return fd_.get(); }

private:
    OwnedFd fd_;
};

}  // namespace bullring
