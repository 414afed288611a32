// Owns: how files with credentials are read and written. Those with secrets are read only when
// nobody else can read or change them, made so that nobody else can, and wiped from memory
// afterwards. What is in them is not known here. Blocks as long as the disk does, but for nothing
// else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "src/base/text/not_read.hpp"

namespace bullring {

/// A text that is overwritten before its memory is given back.
class SecretText {
public:
    SecretText() = default;
    explicit SecretText(std::string text) : text_(std::move(text)) {}
    SecretText(SecretText&& other) noexcept : text_(std::move(other.text_)) { other.wipe(); }
    SecretText& operator=(SecretText&& other) noexcept;
    SecretText(const SecretText&) = delete;
    SecretText& operator=(const SecretText&) = delete;
    ~SecretText() { wipe(); }

    std::string_view view() const { return text_; }

private:
    void wipe();

    std::string text_;
};

/// A key or a chain of certificates has a few KiB.
inline constexpr std::size_t private_file_bytes_max = std::size_t{256} * 1024;

/// The error about a file without a byte in it.
inline constexpr const char* is_empty = "is empty";

/// The whole file, which has no secret, and which nobody but its owner and root, and root's group,
/// can change. The error says what is wrong with it; it does not name it.
tl::expected<std::string, NotRead> read_regular_file(
    const std::string& path, std::size_t bytes_max = private_file_bytes_max);

/// The whole file. Refused when others than its owner and root can read it, except its group when
/// the file or the group is root's, or when others than its owner and root can write it. The error
/// says what is wrong with the file and what would be right; it does not name the file.
tl::expected<SecretText, NotRead> read_private_file(const std::string& path,
                                                    std::size_t bytes_max = private_file_bytes_max);

inline constexpr mode_t secret_mode = 0600;
inline constexpr mode_t public_mode = 0644;

/// The file that could not be written, and whether it exists already.
struct NotWritten {
    bool exists = false;
    std::string why;  // for people; names no file
};

/// On the disk when it returns. Never touches a file that is there; leaves no part of one behind.
tl::expected<void, NotWritten> create_file(const std::string& path, std::string_view text,
                                           mode_t mode);
/// Puts a file in the place of another one, at once and as a whole: readers see the one or the
/// other. It has the other one's owner, group and mode. Without another one it makes a new one.
/// What is there in the end has been read again. Whoever writes what comes of the file's earlier
/// text holds its lock since before that was read (file_lock.hpp).
tl::expected<void, NotWritten> replace_file(const std::string& path, std::string_view text,
                                            mode_t mode);

}  // namespace bullring
