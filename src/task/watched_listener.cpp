#include "src/task/watched_listener.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/descriptors.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/watch/directory_watch.hpp"

namespace bullring {

namespace {

constexpr std::chrono::milliseconds accept_again_after{100};
/// Of connections: more than that at once wait, and the node does not.
constexpr int taken_at_once = 16;
constexpr std::chrono::milliseconds next_taken_after{10};

}  // namespace

WatchedListener::WatchedListener(asio::io_context& io, const NodeOptions& options, Place place,
                                 Taken taken)
    : options_(options), place_(place), taken_(std::move(taken)), listener_(io), timer_(io) {}

tl::expected<void, std::string> WatchedListener::open() {
    auto socket = LocalListener::open(options_.data_dir, place_.name, place_.type, place_.group);
    if (!socket) return tl::unexpected(socket.error());
    socket_.emplace(std::move(*socket));
    listener_.assign(socket_->take().release());
    accept_some();
    return {};
}

void WatchedListener::close() {
    socket_.reset();
    asio::error_code ignored;
    listener_.close(ignored);
    timer_.cancel();
}

void WatchedListener::file_removed(const std::string& name) {
    const bool mine = name == place_.name || name == DirectoryWatch::any_file;
    if (!mine || !socket_ || socket_->is_there()) return;
    close();
    if (const auto again = open(); !again)
        return log(LogLevel::warn,
                   fmt::format("somebody has removed {}: {}", place_.name, again.error()));
    log(LogLevel::warn, fmt::format("somebody has removed {} from {}; it is there again",
                                    place_.name, options_.data_dir));
}

void WatchedListener::accept_some() {
    listener_.async_wait(
        asio::posix::descriptor_base::wait_read, [this](const asio::error_code& error) {
            if (error) return;
            for (int taken = 0; taken < taken_at_once; ++taken) {
                OwnedFd fd(::accept4(listener_.native_handle(), nullptr, nullptr,
                                     SOCK_CLOEXEC | SOCK_NONBLOCK));
                if (!fd && (errno == EAGAIN || errno == ECONNABORTED)) return accept_some();
                if (!fd) {
                    log_limited(LogLevel::warn, place_.name, {},
                                fmt::format("the next process at {} has to wait: {}", place_.name,
                                            reason_text(errno)));
                    // The one that waits makes the listener readable all the time.
                    return accept_after(accept_again_after);
                }
                if (!is_reserved_descriptor(fd.get(), options_.peers.size())) taken_(std::move(fd));
            }
            accept_after(next_taken_after);
        });
}

void WatchedListener::accept_after(std::chrono::milliseconds pause) {
    timer_.expires_after(pause);
    timer_.async_wait([this](const asio::error_code& error) {
        if (!error) accept_some();
    });
}

}  // namespace bullring
