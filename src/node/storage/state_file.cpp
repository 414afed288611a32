#include "src/node/storage/state_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/file_lock.hpp"
#include "src/base/text/failure_text.hpp"

namespace bullring {

using protocol::Durable;
using protocol::Duration;

namespace {

/// Of members_max members with the longest addresses.
constexpr std::size_t file_bytes_max = std::size_t{32} * 1024;

/// The files of the data directory are the node's own: no link leads it to one of somebody else,
/// and a FIFO must not make it wait.
constexpr int own_file = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

std::string failed(const std::string& what, const std::string& path, int error) {
    return fmt::format(
        "cannot {} {}: {}", what, path,
        error == ELOOP ? "it is a symbolic link; expected a file, or none" : reason_text(error));
}

/// Each missing part with 0700, and on the disk before the next.
tl::expected<void, std::string> make_directories(const std::filesystem::path& path) {
    std::filesystem::path made;
    for (const auto& part : path) {
        const std::filesystem::path parent = made.empty() ? "." : made;
        made /= part;
        if (::mkdir(made.c_str(), 0700) != 0) {
            struct stat found {};
            const int error = errno;
            if (::stat(made.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) continue;
            return tl::unexpected(failed("make the data directory", made.string(), error));
        }
        const OwnedFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (directory) ::fsync(directory.get());
    }
    return {};
}

std::string path_of_lock(const std::string& directory) {
    return directory + "/" + StateDirectory::lock_name;
}

/// By whom, as that process has written it.
std::string in_use(const std::string& directory) {
    const OwnedFd lock(::open(path_of_lock(directory).c_str(), O_RDONLY | own_file));
    char text[32] = {};
    std::string owner = "another process";
    if (lock && ::pread(lock.get(), text, sizeof text - 1, 0) > 0) {
        const std::string pid = text;
        owner = "process " + pid.substr(0, pid.find('\n'));
    }
    return fmt::format("the data directory {} is in use by {}", directory, owner);
}

/// By its descriptor: another directory may be at that path by now.
tl::expected<OwnedFd, int> lock_in(int directory, Duration wait) {
    return lock_file(StateDirectory::lock_name, wait, IfMissing::make, directory);
}

tl::expected<OwnedFd, std::string> take_lock(const std::string& directory, int opened,
                                             Duration wait) {
    auto lock = lock_in(opened, wait);
    if (lock) return std::move(*lock);
    if (lock.error() == EWOULDBLOCK) return tl::unexpected(in_use(directory));
    return tl::unexpected(failed("write and lock", path_of_lock(directory), lock.error()));
}

/// For the message of others.
tl::expected<void, std::string> write_owner(const std::string& directory, int lock) {
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(lock, 0) != 0 ||
        ::pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
        return tl::unexpected(failed("write", path_of_lock(directory), errno));
    return {};
}

tl::expected<void, std::string> write_all(int fd, const std::vector<std::byte>& bytes,
                                          const std::string& path) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return tl::unexpected(failed("write", path, count < 0 ? errno : ENOSPC));
        done += static_cast<std::size_t>(count);
    }
    return {};
}

tl::expected<std::optional<Durable>, std::string> read_state(const std::string& path,
                                                             const StateIdentity& identity) {
    const OwnedFd file(::open(path.c_str(), O_RDONLY | own_file));
    if (!file) {
        if (errno == ENOENT) return std::nullopt;
        return tl::unexpected(failed("read", path, errno));
    }
    std::vector<std::byte> bytes(file_bytes_max + 1);
    std::size_t size = 0;
    while (size < bytes.size()) {
        const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return tl::unexpected(failed("read", path, errno));
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    bytes.resize(size);
    auto durable = decode_state(identity, bytes);
    if (!durable) {
        return tl::unexpected(
            fmt::format("{} {}; nothing has been changed", path, durable.error()));
    }
    return *durable;
}

}  // namespace

tl::expected<StateDirectory, std::string> StateDirectory::open(const std::string& path,
                                                               StateIdentity identity,
                                                               Duration lock_wait) {
    if (auto made = make_directories(path); !made) return tl::unexpected(made.error());
    OwnedFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return tl::unexpected(failed("open the data directory", path, errno));
    // First, so that whoever is refused has not made another lock file.
    const int no_lock = lock_within(directory.get(), lock_wait);
    if (no_lock == EWOULDBLOCK) return tl::unexpected(in_use(path));
    if (no_lock != 0)
        log(LogLevel::info, failed("lock", "the directory " + path + " itself", no_lock) +
                                "; its file lock is all that keeps other processes out");
    auto lock = take_lock(path, directory.get(), lock_wait);
    if (!lock) return tl::unexpected(lock.error());
    if (auto written = write_owner(path, lock->get()); !written)
        return tl::unexpected(written.error());
    // A process that died while writing left this file; it never became the state.
    const std::string temporary = path + "/" + new_state_file_name;
    if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) {
        return tl::unexpected(failed("remove", temporary, errno));
    }
    return StateDirectory(path, std::move(identity), std::move(directory), std::move(*lock),
                          no_lock == 0);
}

std::vector<int> StateDirectory::locks() const {
    std::vector<int> all{lock_.get()};
    if (directory_is_locked_) all.push_back(directory_.get());
    return all;
}

tl::expected<std::optional<Durable>, std::string> StateDirectory::load() const {
    return read_state(path_ + "/" + state_name, identity_);
}

tl::expected<StateDirectory::Sight, std::string> StateDirectory::look_at(
    const std::string& path, const StateIdentity& identity) {
    const OwnedFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return tl::unexpected(failed("open the data directory", path, errno));
    const std::string lock_path = path_of_lock(path);
    const OwnedFd lock(::open(lock_path.c_str(), O_RDONLY | own_file));
    if (!lock && errno != ENOENT) return tl::unexpected(failed("read", lock_path, errno));
    if (lock && ::access(lock_path.c_str(), W_OK) != 0)
        return tl::unexpected(failed("write", lock_path, errno));
    Sight sight;
    for (const OwnedFd* one : {&directory, &lock})
        if (*one && ::flock(one->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            sight.in_use = in_use(path);
    auto state = read_state(path + "/" + state_name, identity);
    if (!state) return tl::unexpected(state.error());
    sight.state = std::move(*state);
    return sight;
}

tl::expected<void, std::string> StateDirectory::save(const Durable& durable) const {
    const std::string path = path_ + "/" + state_name;
    const std::string temporary = path_ + "/" + new_state_file_name;
    // By the directory that is locked, whatever its path leads to by now.
    const OwnedFd file(::openat(directory_.get(), new_state_file_name,
                                O_WRONLY | O_CREAT | O_TRUNC | own_file, 0600));
    if (!file) return tl::unexpected(failed("write", temporary, errno));
    if (auto written = write_all(file.get(), encode_state(identity_, durable), temporary);
        !written) {
        return written;
    }
    if (::fsync(file.get()) != 0) return tl::unexpected(failed("fsync", temporary, errno));
    if (::renameat(directory_.get(), new_state_file_name, directory_.get(), state_name) != 0) {
        return tl::unexpected(failed("rename to", path, errno));
    }
    if (::fsync(directory_.get()) != 0) return tl::unexpected(failed("fsync", path_, errno));
    return {};
}

bool StateDirectory::is_at_its_path() const {
    struct stat ours {};
    struct stat there {};
    return ::fstat(directory_.get(), &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

bool StateDirectory::has_its_lock() const {
    struct stat ours {};
    struct stat there {};
    return ::fstat(lock_.get(), &ours) == 0 &&
           ::fstatat(directory_.get(), lock_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

bool StateDirectory::has_its_state() const {
    return ::faccessat(directory_.get(), state_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
           errno != ENOENT;
}

tl::expected<StateDirectory::PutBack, std::string> StateDirectory::put_back(
    const std::optional<Durable>& last) const {
    PutBack done;
    if (!has_its_lock()) {
        const auto lock = lock_in(directory_.get(), Duration{0});
        int error = lock ? 0 : lock.error();
        // With the directory's lock it can only be one that is being refused for that.
        if (error == EWOULDBLOCK && !directory_is_locked_) return tl::unexpected(in_use(path_));
        // By the number that others know.
        if (lock && ::dup3(lock->get(), lock_.get(), O_CLOEXEC) < 0) error = errno;
        if (error == 0) {
            // Whose it is, is for a message only: a full disk is no reason to end.
            static_cast<void>(write_owner(path_, lock_.get()));
            done.names.emplace_back(lock_name);
        } else {
            done.problems.push_back(failed("lock", path_of_lock(path_), error));
        }
    }
    if (last && !has_its_state()) {
        if (auto saved = save(*last); saved)
            done.names.emplace_back(state_name);
        else
            done.problems.push_back(saved.error());
    }
    return done;
}

}  // namespace bullring
