#include "src/base/os/file_lock.hpp"

#include <cerrno>
#include <cstdint>
#include <ctime>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "src/base/os/clock.hpp"

namespace bullring {

using protocol::Duration;

namespace {

OwnedFd open_to_lock(int directory, const std::string& path, IfMissing if_missing) {
    // NFS locks nothing that was opened for reading alone; and a FIFO must not make anybody wait.
    constexpr int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int make = if_missing == IfMissing::make ? O_CREAT | O_NOFOLLOW : 0;
    OwnedFd file(::openat(directory, path.c_str(), O_RDWR | make | flags, 0600));
    const bool may_be_read = errno == EACCES || errno == EPERM || errno == EROFS || errno == EISDIR;
    if (!file && make == 0 && may_be_read)
        file = OwnedFd(::openat(directory, path.c_str(), O_RDONLY | flags));
    return file;
}

bool is_at(int directory, const std::string& path, int fd) {
    struct stat there {};
    struct stat ours {};
    return ::fstatat(directory, path.c_str(), &there, 0) == 0 && ::fstat(fd, &ours) == 0 &&
           there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

}  // namespace

int lock_within(int fd, Duration wait) {
    const std::int64_t give_up_ns = read_clock().boottime_ns + wait.ns;
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return errno;
        if (read_clock().boottime_ns >= give_up_ns) return EWOULDBLOCK;
        const timespec pause{0, 10'000'000};
        ::nanosleep(&pause, nullptr);
    }
    return 0;
}

tl::expected<OwnedFd, int> lock_file(const std::string& path, Duration wait, IfMissing if_missing,
                                     int directory) {
    const std::int64_t give_up_ns = read_clock().boottime_ns + wait.ns;
    while (true) {
        OwnedFd file = open_to_lock(directory, path, if_missing);
        if (!file) return tl::unexpected(errno);
        const Duration left{give_up_ns - read_clock().boottime_ns};
        if (const int error = lock_within(file.get(), left); error != 0)
            return tl::unexpected(error);
        if (is_at(directory, path, file.get())) return file;
    }
}

}  // namespace bullring
