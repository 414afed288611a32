#include "src/report/background_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "src/os/quiet_thread.hpp"
#include "src/report/logging.hpp"
#include "src/runtime/clock.hpp"

namespace bullring {

namespace {

constexpr std::size_t queued_bytes_max = 1024 * 1024;
constexpr int look_up_every_ms = 100;
/// A pipe that is ready takes this much without blocking (PIPE_BUF).
constexpr std::size_t piece_bytes_max = 4096;

OwnedFd open_for_append(const std::string& path) {
    return OwnedFd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644));
}

}  // namespace

BackgroundWriter::BackgroundWriter() : thread_(quiet_thread([this] { run(); })) {}

BackgroundWriter::~BackgroundWriter() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        give_up_at_ns_ = read_clock().boottime_ns + 1'000'000'000;
    }
    changed_.notify_one();
    thread_.join();
}

tl::expected<BackgroundWriter::StreamId, std::string> BackgroundWriter::open(
    const std::string& path, const std::string& what) {
    auto stream = std::make_unique<Stream>();
    stream->path = path;
    stream->what = what;
    if (path != "-") {
        stream->fd = open_for_append(path);
        if (!stream->fd) {
            return tl::unexpected(fmt::format("cannot write the {} {}: {}", what, path,
                                              std::generic_category().message(errno)));
        }
    }
    streams_.push_back(std::move(stream));
    return streams_.size() - 1;
}

void BackgroundWriter::write(StreamId id, std::string line) {
    Stream& stream = *streams_[id];
    bool overflow = false;
    {
        const std::lock_guard lock(mutex_);
        if (stream.dead) return;
        overflow = queued_bytes_ + line.size() > queued_bytes_max;
        if (overflow) {
            stream.dead = true;
        } else {
            queued_bytes_ += line.size();
            queue_.push_back({id, std::move(line)});
        }
    }
    if (overflow) {
        log(LogLevel::error,
            fmt::format("the {} {} ends here: it is not read or written fast enough", stream.what,
                        stream.path));
    }
    changed_.notify_one();
}

void BackgroundWriter::reopen() {
    {
        const std::lock_guard lock(mutex_);
        reopen_ = true;
    }
    changed_.notify_one();
}

void BackgroundWriter::run() {
    std::vector<Line> lines;
    while (true) {
        bool reopen = false;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return stopping_ || reopen_ || !queue_.empty(); });
            if (queue_.empty() && stopping_) return;
            lines.swap(queue_);
            reopen = std::exchange(reopen_, false);
        }
        for (const Line& line : lines) {
            write_line(*streams_[line.stream], line.text);
            const std::lock_guard lock(mutex_);
            queued_bytes_ -= line.text.size();
        }
        lines.clear();
        if (reopen) reopen_now();
    }
}

void BackgroundWriter::write_line(Stream& stream, const std::string& text) {
    const int fd = stream.path == "-" ? STDOUT_FILENO : stream.fd.get();
    std::size_t done = 0;
    while (done < text.size()) {
        {
            const std::lock_guard lock(mutex_);
            if (read_clock().boottime_ns >= give_up_at_ns_) return;
            if (stream.dead) return;
        }
        pollfd ready{fd, POLLOUT, 0};
        if (::poll(&ready, 1, look_up_every_ms) == 0) continue;
        const ssize_t count =
            ::write(fd, text.data() + done, std::min(text.size() - done, piece_bytes_max));
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) return end(stream, std::generic_category().message(errno));
        done += static_cast<std::size_t>(count);
    }
}

void BackgroundWriter::reopen_now() {
    for (const auto& stream : streams_) {
        if (stream->path == "-") continue;
        OwnedFd fd = open_for_append(stream->path);
        if (fd) {
            stream->fd = std::move(fd);
        } else {
            log(LogLevel::error,
                fmt::format("cannot reopen the {} {}: {}; going on with the old file", stream->what,
                            stream->path, std::generic_category().message(errno)));
        }
    }
}

void BackgroundWriter::end(Stream& stream, const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        stream.dead = true;
    }
    log(LogLevel::error, fmt::format("the {} {} ends here: {}", stream.what, stream.path, why));
}

}  // namespace bullring
