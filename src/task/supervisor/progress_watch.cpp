#include "src/task/supervisor/progress_watch.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"

namespace bullring {

namespace {

std::string cannot(const char* what, const std::string& path, int error) {
    return fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(error));
}

}  // namespace

ProgressWatch::ProgressWatch(asio::io_context& io, protocol::Duration stall_after,
                             std::function<void()> on_stall)
    : io_(io),
      stall_after_(stall_after),
      on_stall_(std::move(on_stall)),
      file_(io),
      pipe_(io),
      timer_(io) {}

tl::expected<void, std::string> ProgressWatch::watch_file(const std::string& path) {
    const OwnedFd made(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!made) return tl::unexpected(cannot("write", path, errno));
    OwnedFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!watch || ::inotify_add_watch(watch.get(), path.c_str(), IN_ATTRIB | IN_MODIFY) < 0)
        return tl::unexpected(cannot("watch", path, errno));
    file_.assign(watch.release());
    wait_for_file();
    return {};
}

OwnedFd ProgressWatch::start() {
    running_ = true;
    progress();
    wait_for_time();
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return OwnedFd();
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (pipe_.is_open()) pipe_.close();
    pipe_.assign(ends[0]);
    wait_for_pipe();
    return OwnedFd(ends[1]);
}

void ProgressWatch::stop() {
    running_ = false;
    timer_.cancel();
    if (pipe_.is_open()) pipe_.close();
}

void ProgressWatch::progress() { last_ = asio::steady_timer::clock_type::now(); }

void ProgressWatch::wait_for_file() {
    file_.async_wait(asio::posix::descriptor_base::wait_read,
                     [this](const asio::error_code& error) {
                         if (error) return;
                         while (::read(file_.native_handle(), ignored_.data(), ignored_.size()) > 0)
                             progress();
                         wait_for_file();
                     });
}

void ProgressWatch::wait_for_pipe() {
    pipe_.async_wait(
        asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
            if (error) return;
            ssize_t count = 0;
            while ((count = ::read(pipe_.native_handle(), ignored_.data(), ignored_.size())) > 0)
                progress();
            if (count < 0 && errno == EAGAIN) return wait_for_pipe();
            // Nothing can come of it any more; the file still counts.
            if (running_) log(LogLevel::info, "the command has closed its progress descriptor");
            pipe_.close();
        });
}

void ProgressWatch::wait_for_time() {
    timer_.expires_at(last_ + std::chrono::nanoseconds(stall_after_.ns));
    timer_.async_wait([this](const asio::error_code& error) {
        if (error || !running_) return;
        const auto over = last_ + std::chrono::nanoseconds(stall_after_.ns);
        if (asio::steady_timer::clock_type::now() < over) return wait_for_time();
        running_ = false;
        on_stall_();
    });
}

}  // namespace bullring
