#include "src/base/os/local_socket.hpp"

#include <cerrno>
#include <cstddef>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/text/failure_text.hpp"

namespace bullring {

namespace {

/// A path that is too long for it goes by way of the descriptor of the directory, which needs
/// /proc. A thread may have descriptors of its own.
sockaddr_un address_of(const std::string& path, int directory, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    constexpr std::size_t longest = sizeof address.sun_path - 1;
    if (path.size() <= longest)
        path.copy(address.sun_path, longest);
    else
        fmt::format_to_n(address.sun_path, longest, "/proc/thread-self/fd/{}/{}", directory, name);
    return address;
}

/// The identity of a file; zeros: there is none.
std::pair<dev_t, ino_t> file_at(const std::string& path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return {};
    return {about.st_dev, about.st_ino};
}

/// The owner is left as it is. `flags`: AT_SYMLINK_NOFOLLOW, or none.
bool give(const std::string& path, gid_t group, int flags) {
    struct stat about {};
    if (::fstatat(AT_FDCWD, path.c_str(), &about, flags) != 0) return false;
    return about.st_gid == group ||
           ::fchownat(AT_FDCWD, path.c_str(), static_cast<uid_t>(-1), group, flags) == 0;
}

/// Of a directory that nobody but its owner may enter, the group may from then on; another one is
/// left as it is.
bool let_through(const std::string& directory, gid_t group) {
    constexpr mode_t of_others = S_IRWXG | S_IRWXO;
    struct stat about {};
    if (::stat(directory.c_str(), &about) != 0) return false;
    if ((about.st_mode & of_others) != 0) return true;
    return give(directory, group, 0) &&
           ::chmod(directory.c_str(), (about.st_mode & S_IRWXU) | S_IXGRP) == 0;
}

const sockaddr* plain(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

tl::expected<LocalListener, std::string> LocalListener::open(
    const std::string& directory, const std::string& name, int type,
    const std::optional<SocketGroup>& group) {
    const std::string path = directory + "/" + name;
    const auto failed = [&](const char* what) {
        return tl::unexpected(fmt::format("cannot {} {}: {}", what, path, reason_text(errno)));
    };
    const OwnedFd opened(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    OwnedFd listener(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!opened || !listener) return failed("make");
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("replace");
    const sockaddr_un address = address_of(path, opened.get(), name);
    // The file gets this mode, so it is never open to others, not even for a moment.
    if (::fchmod(listener.get(), 0600) != 0 ||
        ::bind(listener.get(), plain(address), sizeof address) != 0)
        return failed("make");
    // Until the mode follows, the group can't use it.
    if (group && !(give(path, group->id, AT_SYMLINK_NOFOLLOW) && ::chmod(path.c_str(), 0660) == 0 &&
                   let_through(directory, group->id))) {
        const int error = errno;
        ::unlink(path.c_str());
        return tl::unexpected(
            fmt::format("{}: cannot give it {}: {}", group->name, path, reason_text(error)));
    }
    LocalListener made(std::move(listener), path);
    made.file_ = file_at(path);
    if (::listen(made.listener_.get(), SOMAXCONN) != 0) return failed("listen on");
    return made;
}

LocalListener::~LocalListener() {
    if (!path_.empty() && is_there()) ::unlink(path_.c_str());
}

bool LocalListener::is_there() const { return file_at(path_) == file_; }

tl::expected<OwnedFd, int> connect_locally(const std::string& directory, const std::string& name,
                                           int type) {
    const OwnedFd opened(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return tl::unexpected(errno);
    OwnedFd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return tl::unexpected(errno);
    const sockaddr_un address = address_of(directory + "/" + name, opened.get(), name);
    if (::connect(socket.get(), plain(address), sizeof address) != 0) return tl::unexpected(errno);
    return socket;
}

}  // namespace bullring
