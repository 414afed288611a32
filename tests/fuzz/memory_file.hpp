// A file that is nowhere but in memory, for what is read by name. Others than its owner can neither
// read nor change it.
#pragma once

#include <string>
#include <string_view>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/input.hpp"

namespace bullring::fuzz {

class MemoryFile {
public:
    MemoryFile() : fd_(::memfd_create("fuzzed", MFD_CLOEXEC)) {
        expect(fd_ >= 0 && ::fchmod(fd_, 0600) == 0, "no file in memory");
        path_ = "/proc/self/fd/" + std::to_string(fd_);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(fd_); }

    const std::string& path() const { return path_; }
    void hold(std::string_view text) const {
        const auto size = static_cast<ssize_t>(text.size());
        expect(::ftruncate(fd_, 0) == 0 && ::pwrite(fd_, text.data(), text.size(), 0) == size,
               "the file in memory can't be written");
    }

private:
    int fd_;
    std::string path_;
};

}  // namespace bullring::fuzz
