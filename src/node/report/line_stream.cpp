#include "src/node/report/line_stream.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/file_tail.hpp"

namespace bullring {

namespace {

constexpr int look_up_every_ms = 100;
constexpr int no_reader = ENXIO;

/// Without O_NONBLOCK the open would wait for the reader of a FIFO.
OwnedFd open_for_append(const std::string& path) {
    OwnedFd file(::open(path.c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644));
    // One who died within a line must not swallow the next one. If that can't be written, no other
    // line can, and the first of them says so.
    if (file && FileTail(file.get(), path.c_str()).within_line()) {
        if (::write(file.get(), "\n", 1) < 0) return file;
    }
    return file;
}

/// After an open that has failed.
bool is_unread_fifo(const std::string& path) {
    struct stat what {};
    return errno == ENXIO && ::stat(path.c_str(), &what) == 0 && S_ISFIFO(what.st_mode);
}

/// True also where nobody can tell.
bool is_at(const std::string& path, int fd) {
    struct stat ours {};
    struct stat there {};
    if (::fstat(fd, &ours) != 0) return true;
    if (::stat(path.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
    return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

std::string message_of(int error) { return std::generic_category().message(error); }

}  // namespace

std::string LineStream::problem() const {
    if (too_slow_.load()) return "it is not read or written fast enough";
    const int error = error_.load();
    if (error == 0) return "";
    return error == no_reader ? "it has no reader" : message_of(error);
}

tl::expected<void, std::string> LineStream::open() {
    if (is_stdout()) return {};
    fd_ = open_for_append(path_);
    if (fd_) return {};
    if (!is_unread_fifo(path_))
        return tl::unexpected(fmt::format("cannot write {}: {}", name(), message_of(errno)));
    lose_reader();
    return {};
}

// ---- Lines.

bool LineStream::write(const std::string& text) {
    if (!too_slow_.load() && (error_.load() == 0 ? put(text) : come_back(text))) return true;
    lose();
    return false;
}

void LineStream::overflow() {
    lose();
    if (too_slow_.exchange(true)) return;
    log_limited(LogLevel::error, "stream", {path_},
                name() + " is interrupted: it is not read or written fast enough; events are lost");
}

void LineStream::look() {
    if (!is_interrupted() || (error_.load() != 0 && !gap_line_)) return;
    pollfd ready{is_stdout() ? STDOUT_FILENO : fd_.get(), POLLOUT, 0};
    // A reader that does not read at all would hold up the other streams.
    if (too_slow_.load() && error_.load() == 0 && ::poll(&ready, 1, 0) == 0) return;
    come_back("");
}

bool LineStream::come_back(const std::string& line) {
    const auto now = std::chrono::steady_clock::now();
    const int error = error_.load();
    if (error != 0 && error != no_reader && now < next_try_) return false;
    next_try_ = now + try_every;
    if (error != 0 && !is_stdout()) {
        OwnedFd fd = open_for_append(path_);
        if (!fd) return false;
        fd_ = std::move(fd);
        torn_ = false;
    }
    too_slow_.store(false);
    const std::uint64_t missing = untold_.exchange(0);
    std::string text = torn_ ? "\n" : "";
    if (missing > 0 && gap_line_) text += gap_line_(missing);
    if (!put(text + line)) {
        untold_.fetch_add(missing);
        return false;
    }
    error_.store(0);
    if (error == no_reader)
        log(LogLevel::info, name() + " has a reader again");
    else if (std::exchange(said_, false))
        log(LogLevel::warn, fmt::format("{} goes on, without {} line{} that were lost", name(),
                                        missing, missing == 1 ? "" : "s"));
    return true;
}

bool LineStream::put(const std::string& text) {
    const int fd = is_stdout() ? STDOUT_FILENO : fd_.get();
    std::size_t done = 0;
    while (done < text.size()) {
        if (given_up_.load() || too_slow_.load()) return false;
        // On stdout the write itself waits, unless a program that shares it has made it
        // non-blocking.
        pollfd ready{fd, POLLOUT, 0};
        if (!is_stdout() && ::poll(&ready, 1, look_up_every_ms) == 0) continue;
        const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
        if (count < 0 && errno == EAGAIN) ::poll(&ready, 1, look_up_every_ms);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) return fail(errno);
        done += static_cast<std::size_t>(count);
        torn_ = done < text.size();
    }
    return true;
}

// ---- What is in its way.

void LineStream::lose() {
    lost_.fetch_add(1);
    untold_.fetch_add(1);
}

bool LineStream::fail(int error) {
    if (error == EPIPE && !is_stdout()) {
        lose_reader();
        return false;
    }
    next_try_ = std::chrono::steady_clock::now() + try_every;
    const bool is_new = error_.exchange(error) == 0;
    if (is_new && !given_up_.load())  // else the log may be gone, too
        said_ = log_limited(
            LogLevel::error, "stream", {path_},
            fmt::format("{} is interrupted: {}; events are lost", name(), message_of(error)));
    return false;
}

void LineStream::lose_reader() {
    fd_ = OwnedFd();
    if (error_.exchange(no_reader) == no_reader) return;
    log(LogLevel::warn, name() + " has no reader; events are dropped until one opens it");
}

// ---- Its name.

void LineStream::reopen() {
    if (is_stdout()) return;
    if (OwnedFd fd = open_for_append(path_)) {
        fd_ = std::move(fd);
        torn_ = false;
        next_try_ = {};
        if (error_.load() != 0) come_back("");
    } else if (is_unread_fifo(path_)) {
        lose_reader();
    } else {
        log(LogLevel::error, fmt::format("cannot reopen {}: {}; going on with the old file", name(),
                                         message_of(errno)));
    }
}

void LineStream::make_again() {
    if (!fd_ || is_at(path_, fd_.get())) return;
    if (OwnedFd fd = open_for_append(path_)) {
        fd_ = std::move(fd);
        torn_ = false;
        gone_ = false;
        log(LogLevel::warn,
            fmt::format("somebody has removed or renamed {}; it is there again", name()));
    } else if (!std::exchange(gone_, true)) {
        log(LogLevel::error,
            fmt::format("somebody has removed or renamed {}, and it cannot be made "
                        "again: {}; going on with the old file",
                        name(), message_of(errno)));
    }
}

}  // namespace bullring
