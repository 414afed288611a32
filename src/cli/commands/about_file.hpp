// Reports of `bullring key` and `bullring cert` on a file, and on what they could not do.
#pragma once

#include <cerrno>
#include <string>

#include "protocol/values/time.hpp"
#include "src/base/os/file_lock.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/commands/commands.hpp"

namespace bullring {

/// The exit status of a command that was right and could not be done.
inline constexpr int not_done = 1;

/// "the file "key" cannot be written: …".
inline std::string about_file(const std::string& path, const std::string& what) {
    return "the file " + in_quotes(path) + " " + what;
}

/// Why a command ends, and with which status.
struct Failure {
    int status = not_done;
    std::string why;
};

/// The command's turn to change a file, as lock_file() gives it. Others have it for as long as the
/// disk takes.
inline tl::expected<OwnedFd, Failure> turn_at(const std::string& path) {
    return lock_file(path, protocol::seconds(10)).map_error([&](int error) {
        if (error == EWOULDBLOCK)
            return Failure{not_done, about_file(path, "is being changed by another process")};
        return Failure{wrong_usage,
                       about_file(path, "cannot be read and locked: " + reason_text(error))};
    });
}

}  // namespace bullring
