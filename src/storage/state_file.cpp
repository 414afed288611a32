#include "src/storage/state_file.hpp"

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/os/clock.hpp"

namespace bullring {

using protocol::Durable;
using protocol::Duration;

namespace {

constexpr std::size_t file_bytes_max = 4096;

std::string failed(const std::string& what, const std::string& path, int error) {
    return fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(error));
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

std::string owner_of(int lock) {
    char text[32] = {};
    const ssize_t count = ::pread(lock, text, sizeof text - 1, 0);
    if (count <= 0) return "another process";
    std::string pid(text, static_cast<std::size_t>(count));
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return "process " + pid;
}

tl::expected<OwnedFd, std::string> take_lock(const std::string& directory, Duration wait) {
    const std::string path = directory + "/lock";
    OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) return tl::unexpected(failed("write", path, errno));
    const std::int64_t give_up = read_clock().boottime_ns + wait.ns;
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return tl::unexpected(failed("lock", path, errno));
        }
        if (read_clock().boottime_ns >= give_up) {
            return tl::unexpected(fmt::format("the data directory {} is in use by {}", directory,
                                              owner_of(lock.get())));
        }
        const timespec pause{0, 10'000'000};
        ::nanosleep(&pause, nullptr);
    }
    // Only for the message above.
    const std::string pid = fmt::format("{}\n", ::getpid());
    if (::ftruncate(lock.get(), 0) != 0 ||
        ::pwrite(lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        return tl::unexpected(failed("write", path, errno));
    }
    return lock;
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

}  // namespace

tl::expected<StateDirectory, std::string> StateDirectory::open(const std::string& path,
                                                               StateIdentity identity,
                                                               Duration lock_wait) {
    if (auto made = make_directories(path); !made) return tl::unexpected(made.error());
    OwnedFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return tl::unexpected(failed("open the data directory", path, errno));
    auto lock = take_lock(path, lock_wait);
    if (!lock) return tl::unexpected(lock.error());
    // What a process left that died while writing; it never became the state.
    const std::string temporary = path + "/state.tmp";
    if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) {
        return tl::unexpected(failed("remove", temporary, errno));
    }
    return StateDirectory(path, std::move(identity), std::move(directory), std::move(*lock));
}

tl::expected<std::optional<Durable>, std::string> StateDirectory::load() const {
    const std::string path = path_ + "/state";
    const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
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
    auto durable = decode_state(identity_, bytes);
    if (!durable) {
        return tl::unexpected(
            fmt::format("{} {}; nothing has been changed", path, durable.error()));
    }
    return *durable;
}

tl::expected<void, std::string> StateDirectory::save(const Durable& durable) const {
    const std::string path = path_ + "/state";
    const std::string temporary = path + ".tmp";
    const OwnedFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) return tl::unexpected(failed("write", temporary, errno));
    if (auto written = write_all(file.get(), encode_state(identity_, durable), temporary);
        !written) {
        return written;
    }
    if (::fsync(file.get()) != 0) return tl::unexpected(failed("fsync", temporary, errno));
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return tl::unexpected(failed("rename to", path, errno));
    }
    if (::fsync(directory_.get()) != 0) return tl::unexpected(failed("fsync", path_, errno));
    return {};
}

}  // namespace bullring
