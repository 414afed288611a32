// Owns: a second descriptor of what a first one is open on: Asio closes those that it waits on.
#pragma once

#include <cerrno>
#include <system_error>

#include <fcntl.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// Throws std::system_error when there are no more descriptors.
inline OwnedFd duplicate(int fd) {
    OwnedFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (!copy)
        throw std::system_error(errno, std::generic_category(), "cannot duplicate a descriptor");
    return copy;
}

}  // namespace bullring
