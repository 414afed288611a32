#include "src/base/os/file_tail.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bullring {

FileTail::FileTail(int file, const char* path) {
    struct stat what {};
    if (file < 0 || ::syscall(SYS_fstat, file, &what) != 0 || !S_ISREG(what.st_mode)) return;
    const long reading =
        ::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (reading < 0) return;
    const long from =
        std::max(0L, static_cast<long>(what.st_size) - static_cast<long>(bytes_.size()));
    const long count = ::syscall(SYS_pread64, reading, bytes_.data(), bytes_.size(), from);
    size_ = static_cast<std::size_t>(std::max(0L, count));
    ::syscall(SYS_close, reading);
}

}  // namespace bullring
