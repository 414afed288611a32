#include "src/node/report/background_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/os/file_tail.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/os/quiet_thread.hpp"

namespace bullring {

namespace {

constexpr std::size_t queued_bytes_max = 1024 * 1024;
constexpr int look_up_every_ms = 100;
constexpr std::chrono::seconds end_max{1};

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

class BackgroundWriter::Work {
public:
    tl::expected<StreamId, std::string> open(const std::string& path, const std::string& what);
    void write(StreamId id, std::string line, const Marks& marks);
    void reopen();
    void make_again();
    void stop();
    /// After stop(). False when the thread is still at it then.
    bool wait_for_end(std::chrono::milliseconds patience);
    /// The thread's.
    void run();

private:
    struct Stream {
        std::string path;
        std::string what;
        OwnedFd fd;           // the thread's; not for stdout, nor for a FIFO that nobody reads
        bool unread = false;  // such a FIFO; the thread's
        bool gone = false;    // and can't be made again; the thread's
        bool dead = false;    // under `mutex_`

        bool is_stdout() const { return path == "-"; }
    };
    struct Line {
        StreamId stream;
        std::string text;
        Marks marks;
    };

    static tl::expected<void, std::string> open_now(Stream& stream);
    bool is_over(const Stream& stream);
    void write_marked(Stream& stream, const Line& line);
    /// False: nobody gets it, or not all of it.
    bool write_line(Stream& stream, const std::string& text);
    bool find_reader(Stream& stream);
    static void lose_reader(Stream& stream);
    void reopen_now();
    void make_again_now();
    void end(Stream& stream, const std::string& why);

    std::vector<std::unique_ptr<Stream>> streams_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> opening_;
    std::vector<Line> queue_;
    std::size_t queued_bytes_ = 0;
    bool reopen_ = false;
    bool make_again_ = false;
    bool stopping_ = false;
    bool given_up_ = false;
    bool ended_ = false;
};

// ---- What the node's thread calls.

BackgroundWriter::BackgroundWriter()
    : work_(std::make_shared<Work>()), thread_(quiet_thread([work = work_] { work->run(); })) {}

BackgroundWriter::~BackgroundWriter() {
    work_->stop();
    if (work_->wait_for_end(end_max)) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

tl::expected<BackgroundWriter::StreamId, std::string> BackgroundWriter::open(
    const std::string& path, const std::string& what) {
    return work_->open(path, what);
}

void BackgroundWriter::write(StreamId id, std::string line, const Marks& marks) {
    work_->write(id, std::move(line), marks);
}

void BackgroundWriter::reopen() { work_->reopen(); }

void BackgroundWriter::make_again() { work_->make_again(); }

tl::expected<BackgroundWriter::StreamId, std::string> BackgroundWriter::Work::open(
    const std::string& path, const std::string& what) {
    Stream& stream = *streams_.emplace_back(std::make_unique<Stream>());
    stream.path = path;
    stream.what = what;
    std::promise<tl::expected<void, std::string>> answer;
    {
        const std::lock_guard lock(mutex_);
        opening_ = [&] { answer.set_value(open_now(stream)); };
    }
    changed_.notify_all();
    if (auto opened = answer.get_future().get(); !opened) return tl::unexpected(opened.error());
    return streams_.size() - 1;
}

void BackgroundWriter::Work::write(StreamId id, std::string line, const Marks& marks) {
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
            queue_.push_back({id, std::move(line), marks});
        }
    }
    if (overflow) {
        log(LogLevel::error,
            fmt::format("the {} {} ends here: it is not read or written fast enough", stream.what,
                        stream.path));
    }
    changed_.notify_all();
}

void BackgroundWriter::Work::reopen() {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
    changed_.notify_all();
}

void BackgroundWriter::Work::make_again() {
    const std::lock_guard lock(mutex_);
    make_again_ = true;
    changed_.notify_all();
}

void BackgroundWriter::Work::stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
}

bool BackgroundWriter::Work::wait_for_end(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return ended_; };
    if (changed_.wait_for(lock, patience, ended)) return true;
    given_up_ = true;
    return changed_.wait_for(lock, 2 * std::chrono::milliseconds(look_up_every_ms), ended);
}

// ---- The thread.

void BackgroundWriter::Work::run() {
    leave_shared_descriptors();
    std::vector<Line> lines;
    while (true) {
        bool reopen = false;
        bool make_again = false;
        std::function<void()> opening;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] {
                return stopping_ || reopen_ || make_again_ || opening_ || !queue_.empty();
            });
            if (queue_.empty() && stopping_) break;
            lines.swap(queue_);
            reopen = std::exchange(reopen_, false);
            make_again = std::exchange(make_again_, false);
            opening.swap(opening_);
        }
        if (opening) opening();
        for (const Line& line : lines) {
            write_marked(*streams_[line.stream], line);
            const std::lock_guard lock(mutex_);
            queued_bytes_ -= line.text.size();
        }
        lines.clear();
        if (reopen) reopen_now();
        if (make_again) make_again_now();
    }
    for (const auto& stream : streams_) stream->fd = OwnedFd();  // nobody else can close them
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

tl::expected<void, std::string> BackgroundWriter::Work::open_now(Stream& stream) {
    if (stream.is_stdout()) return {};
    stream.fd = open_for_append(stream.path);
    if (stream.fd) return {};
    if (!is_unread_fifo(stream.path))
        return tl::unexpected(
            fmt::format("cannot write the {} {}: {}", stream.what, stream.path, message_of(errno)));
    lose_reader(stream);
    return {};
}

bool BackgroundWriter::Work::is_over(const Stream& stream) {
    const std::lock_guard lock(mutex_);
    return given_up_ || stream.dead;
}

void BackgroundWriter::Work::write_marked(Stream& stream, const Line& line) {
    line.marks.before.set();
    if (write_line(stream, line.text)) line.marks.after.set();
}

bool BackgroundWriter::Work::write_line(Stream& stream, const std::string& text) {
    if (stream.unread && !find_reader(stream)) return false;
    const int fd = stream.is_stdout() ? STDOUT_FILENO : stream.fd.get();
    std::size_t done = 0;
    while (done < text.size()) {
        if (is_over(stream)) return false;
        // On stdout the write itself waits, unless a program that shares it has made it
        // non-blocking.
        pollfd ready{fd, POLLOUT, 0};
        if (!stream.is_stdout() && ::poll(&ready, 1, look_up_every_ms) == 0) continue;
        const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
        if (count < 0 && errno == EAGAIN) ::poll(&ready, 1, look_up_every_ms);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count < 0 && errno == EPIPE && !stream.is_stdout()) {
            lose_reader(stream);
            return false;
        }
        if (count <= 0) {
            end(stream, message_of(errno));
            return false;
        }
        done += static_cast<std::size_t>(count);
    }
    return true;
}

void BackgroundWriter::Work::lose_reader(Stream& stream) {
    stream.fd = OwnedFd();
    stream.unread = true;
    log(LogLevel::warn, fmt::format("the {} {} has no reader; events are dropped until one "
                                    "opens it",
                                    stream.what, stream.path));
}

bool BackgroundWriter::Work::find_reader(Stream& stream) {
    OwnedFd fd = open_for_append(stream.path);
    if (!fd) return false;
    stream.fd = std::move(fd);
    stream.unread = false;
    log(LogLevel::info, fmt::format("the {} {} has a reader again", stream.what, stream.path));
    return true;
}

void BackgroundWriter::Work::reopen_now() {
    for (const auto& stream : streams_) {
        if (stream->is_stdout()) continue;
        OwnedFd fd = open_for_append(stream->path);
        if (fd) {
            stream->fd = std::move(fd);
            stream->unread = false;
            const std::lock_guard lock(mutex_);
            stream->dead = false;
        } else if (is_unread_fifo(stream->path)) {
            if (!stream->unread) lose_reader(*stream);
        } else {
            log(LogLevel::error,
                fmt::format("cannot reopen the {} {}: {}; going on with the old file", stream->what,
                            stream->path, message_of(errno)));
        }
    }
}

void BackgroundWriter::Work::make_again_now() {
    for (const auto& stream : streams_) {
        if (!stream->fd || is_at(stream->path, stream->fd.get())) continue;
        if (OwnedFd fd = open_for_append(stream->path)) {
            stream->fd = std::move(fd);
            stream->gone = false;
            log(LogLevel::warn,
                fmt::format("somebody has removed or renamed the {} {}; it is there again",
                            stream->what, stream->path));
        } else if (!std::exchange(stream->gone, true)) {
            log(LogLevel::error,
                fmt::format("somebody has removed or renamed the {} {}, and it cannot be made "
                            "again: {}; going on with the old file",
                            stream->what, stream->path, message_of(errno)));
        }
    }
}

void BackgroundWriter::Work::end(Stream& stream, const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        stream.dead = true;
        if (given_up_) return;  // the log may be gone, too
    }
    log(LogLevel::error, fmt::format("the {} {} ends here: {}", stream.what, stream.path, why));
}

}  // namespace bullring
