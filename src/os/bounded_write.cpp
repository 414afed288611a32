#include "src/os/bounded_write.hpp"

#include <atomic>
#include <cerrno>
#include <future>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "src/os/quiet_thread.hpp"

namespace bullring {

namespace {

/// Somebody was left behind, and still waits for a reader.
std::atomic<bool> left_behind{false};

constexpr int look_again_ms = 100;
constexpr std::chrono::milliseconds finished_every{1};

/// Where there are no more threads: the chance that it blocks is small, and all that is left.
void write_if_ready(int fd, std::string_view text) {
    pollfd ready{fd, POLLOUT, 0};
    if (::poll(&ready, 1, 0) > 0) write_waiting(fd, text);
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

void write_within(int fd, std::string text, std::chrono::milliseconds patience) {
    if (left_behind) return;
    std::promise<void> written;
    const std::future<void> done = written.get_future();
    try {
        quiet_thread([fd, text, written = std::move(written)]() mutable {
            write_waiting(fd, text);
            written.set_value();
            left_behind = false;
        }).detach();
    } catch (const std::system_error&) {
        return write_if_ready(fd, text);
    }
    if (done.wait_for(patience) == std::future_status::ready) return;
    left_behind = true;
    // It may have come through at this very moment.
    if (done.wait_for(std::chrono::seconds(0)) == std::future_status::ready) left_behind = false;
}

void finish_writing(std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (left_behind && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(finished_every);
}

}  // namespace bullring
