#include "src/base/os/bounded_write.hpp"

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "src/base/os/quiet_thread.hpp"

namespace bullring {

namespace {

constexpr int look_again_ms = 100;

/// Where there are no more threads: the chance that it blocks is small, and all that is left.
void write_if_ready(int fd, std::string_view text) {
    pollfd ready{fd, POLLOUT, 0};
    if (::poll(&ready, 1, 0) > 0) write_waiting(fd, text);
}

class Writer {
public:
    void add(int fd, std::string text) {
        const std::lock_guard lock(mutex_);
        if (texts_.size() >= kept_max) return;
        texts_.emplace_back(fd, std::move(text));
        if (writing_) return;
        try {
            quiet_thread([this] { write_all(); }).detach();
            writing_ = true;
        } catch (const std::system_error&) {
            for (const auto& [to, what] : std::exchange(texts_, {})) write_if_ready(to, what);
        }
    }

    void wait(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        done_.wait_for(lock, patience, [this] { return !writing_; });
    }

    bool is_of_this_process() const { return process_ == ::getpid(); }

private:
    static constexpr std::size_t kept_max = 64;

    void write_all() {
        std::unique_lock lock(mutex_);
        while (!texts_.empty()) {
            const auto [fd, text] = std::move(texts_.front());
            texts_.pop_front();
            lock.unlock();
            write_waiting(fd, text);
            lock.lock();
        }
        writing_ = false;
        done_.notify_all();
    }

    pid_t process_ = ::getpid();
    std::mutex mutex_;
    std::condition_variable done_;
    std::deque<std::pair<int, std::string>> texts_;
    bool writing_ = false;
};

/// Never destroyed: its thread may be the last. A fork has none of its parent's threads, and
/// another may have held the mutex, so it begins with a new one.
Writer& writer() {
    static Writer* current = nullptr;
    if (current == nullptr || !current->is_of_this_process()) current = new Writer;
    return *current;
}

}  // namespace

bool write_waiting(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(fd, text.data(), text.size());
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
        if (count >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN) return false;
        pollfd ready{fd, POLLOUT, 0};
        ::poll(&ready, 1, look_again_ms);
    }
    return true;
}

void write_soon(int fd, std::string text) { writer().add(fd, std::move(text)); }

void finish_writing(std::chrono::milliseconds patience) { writer().wait(patience); }

}  // namespace bullring
