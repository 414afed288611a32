// Owns: a look at the end of a file to which lines are appended, for one who adds a line after a
// writer that may have died within one. By system calls alone, as bare_calls.hpp says.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace bullring {

class FileTail {
public:
    /// `path` names what `file` is open on; of what is no regular file nothing is seen.
    FileTail(int file, const char* path);

    /// The last bytes.
    std::string_view text() const { return {bytes_.data(), size_}; }
    /// The next byte would go on with a line that is there.
    bool within_line() const { return size_ > 0 && bytes_[size_ - 1] != '\n'; }

private:
    std::array<char, 1024> bytes_{};
    std::size_t size_ = 0;
};

}  // namespace bullring
