// Owns: sockets in a directory of this machine, by which processes of its owner reach the one that
// listens. Their paths may be longer than an address has room for.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// A group that may use a socket beside the owner.
struct SocketGroup {
    gid_t id = 0;
    std::string name;  // in the text of a failure
};

/// A socket that is listened on, by a file that its owner alone may use, from open() to the end of
/// this object.
class LocalListener {
public:
    /// In a directory that nobody else listens in, which is for the caller to see to: a file that
    /// is there has been left over. `type`: SOCK_STREAM or SOCK_SEQPACKET. The error is for people.
    /// `group`: may use it, too, and enter the directory if only its owner might. What is the
    /// group's already is not given to it: in a sandbox that may be forbidden.
    static tl::expected<LocalListener, std::string> open(
        const std::string& directory, const std::string& name, int type,
        const std::optional<SocketGroup>& group = {});
    LocalListener(LocalListener&& other) noexcept
        : listener_(std::move(other.listener_)),
          path_(std::exchange(other.path_, {})),
          file_(std::move(other.file_)) {}
    LocalListener& operator=(LocalListener&& other) = delete;
    LocalListener(const LocalListener&) = delete;
    LocalListener& operator=(const LocalListener&) = delete;
    ~LocalListener();

    /// The descriptor, for whoever accepts; non-blocking. The file stays this object's.
    OwnedFd take() { return std::move(listener_); }
    /// Whether the file is there, or somebody else has removed or replaced it.
    bool is_there() const;

private:
    LocalListener(OwnedFd listener, std::string path)
        : listener_(std::move(listener)), path_(std::move(path)) {}

    OwnedFd listener_;
    std::string path_;
    std::pair<dev_t, ino_t> file_;
};

/// Non-blocking. The error is an errno.
tl::expected<OwnedFd, int> connect_locally(const std::string& directory, const std::string& name,
                                           int type);

}  // namespace bullring
