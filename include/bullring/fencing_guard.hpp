// Owns: the rule of a fenced resource: a request with a lower epoch than an earlier one is refused.
// Header-only, for the resource that is written to, which need not know of elections. (Chubby
// calls the number a sequencer; Burrows, OSDI 2006, §2.4.)
#pragma once

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace bullring {

/// Remembers the highest epoch that it has admitted. Thread-safe; with a file also between
/// processes.
class FencingGuard {
    /// Of the std::system_error that says that a file is no fencing file; no errno says that.
    class FormatCategory final : public std::error_category {
    public:
        const char* name() const noexcept override { return "bullring fencing file"; }
        std::string message(int /*code*/) const override {
            return "it does not hold an epoch; a fencing file serves nothing else, is missing or "
                   "empty at first, and then holds 20 digits and a line end. Write the highest "
                   "epoch that was admitted into a damaged one";
        }
    };

public:
    /// In memory: for a resource that has no state of its own that outlives the process.
    FencingGuard() = default;
    /// Durable: the epoch is in `path`, which is made if it is not there. Throws std::system_error,
    /// also when something else than an epoch is in it.
    explicit FencingGuard(std::string path) : path_(std::move(path)) {
        fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd_ < 0) fail("open");
        try {
            sync_directory();
            const Locked locked(*this);
            highest_ = read();
        } catch (...) {
            ::close(fd_);
            throw;
        }
    }
    FencingGuard(const FencingGuard&) = delete;
    FencingGuard& operator=(const FencingGuard&) = delete;
    ~FencingGuard() {
        if (fd_ >= 0) ::close(fd_);
    }

    /// False: a newer leader has been here, and the request must be refused. A new leader has to be
    /// admitted before it reads what it will act on: until then an older one can still change it.
    /// A new epoch is on the disk before this returns true. Epoch 0, which no leader has, is
    /// refused. Throws std::system_error when the file cannot be read or written: then, too, refuse
    /// the request.
    bool admit(std::uint64_t epoch) {
        const std::lock_guard lock(mutex_);
        if (epoch == 0 || epoch < highest_) return false;
        if (epoch == highest_ && fd_ < 0) return true;
        if (fd_ >= 0) {
            const Locked locked(*this);
            highest_ = read();
            if (epoch < highest_) return false;
            if (epoch > highest_) write(epoch);
            // Its writer may have died before it was on the disk.
            if (epoch != synced_) sync();
            synced_ = epoch;
        }
        highest_ = epoch;
        return true;
    }

    /// The highest epoch admitted here; 0 when there was none.
    std::uint64_t highest() const {
        const std::lock_guard lock(mutex_);
        return highest_;
    }

private:
    /// Twenty digits and a line end, always: an epoch takes the place of another in one write of
    /// one sector.
    static constexpr std::size_t record_bytes = 21;

    struct Locked {
        explicit Locked(const FencingGuard& guard) : fd(guard.fd_) {
            while (::flock(fd, LOCK_EX) != 0) {
                if (errno != EINTR) guard.fail("lock");
            }
        }
        Locked(const Locked&) = delete;
        Locked& operator=(const Locked&) = delete;
        ~Locked() { ::flock(fd, LOCK_UN); }
        int fd;
    };

    /// Or a new file could be gone after a crash, and its epoch with it.
    void sync_directory() const {
        const std::size_t slash = path_.rfind('/');
        const std::string directory = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
        const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const bool synced = fd >= 0 && ::fsync(fd) == 0;
        const int error = errno;
        if (fd >= 0) ::close(fd);
        errno = error;
        if (!synced) fail("sync the directory of");
    }

    std::uint64_t read() const {
        char text[record_bytes + 1] = {};
        const ssize_t count = ::pread(fd_, text, sizeof text, 0);
        if (count < 0) fail("read");
        if (count == 0) return 0;
        std::uint64_t epoch = 0;
        const char* digits_end = text + record_bytes - 1;
        const auto result = std::from_chars(text, digits_end, epoch);
        if (count != static_cast<ssize_t>(record_bytes) || result.ec != std::errc{} ||
            result.ptr != digits_end || *digits_end != '\n') {
            static const FormatCategory format;
            throw std::system_error(1, format, "cannot use the fencing file " + path_);
        }
        return epoch;
    }

    void write(std::uint64_t epoch) const {
        std::string text = std::to_string(epoch);
        text.insert(0, record_bytes - 1 - text.size(), '0');
        text += '\n';
        if (::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
            fail("write");
    }

    void sync() const {
        if (::fdatasync(fd_) != 0) fail("sync");
    }

    [[noreturn]] void fail(const char* what) const {
        throw std::system_error(errno, std::generic_category(),
                                std::string("cannot ") + what + " the fencing file " + path_);
    }

    mutable std::mutex mutex_;
    std::uint64_t highest_ = 0;
    std::uint64_t synced_ = 0;  // the last that this object has seen to be on the disk
    std::string path_;
    int fd_ = -1;
};

}  // namespace bullring
