// Owns: locks by which processes that change one file take turns. A lock is gone with its
// descriptor, or with the process. Blocks.
#pragma once

#include <string>

#include <fcntl.h>
#include <tl/expected.hpp>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// 0, EWOULDBLOCK when somebody else has it for so long, or what else is wrong.
int lock_within(int fd, protocol::Duration wait);

/// A file that is made is the caller's own: a link in its place is not followed (ELOOP).
enum class IfMissing { fail, make };

/// The lock of the file that is at this path once it is locked, not of one that has been replaced
/// or removed by then. Whoever changes a file takes it before the file is read, and gives it back
/// when the file has been replaced. A relative path begins at `directory`. The error is errno's,
/// EWOULDBLOCK as above.
tl::expected<OwnedFd, int> lock_file(const std::string& path, protocol::Duration wait,
                                     IfMissing if_missing = IfMissing::fail,
                                     int directory = AT_FDCWD);

}  // namespace bullring
