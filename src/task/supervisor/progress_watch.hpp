// Owns: the two ways in which a command shows progress: it touches a file, or writes to a pipe.
// Nothing is polled: the kernel reports both.
#pragma once

#include <array>
#include <functional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

class ProgressWatch {
public:
    /// `on_stall`: nothing has been seen for `stall_after`; once for each start().
    ProgressWatch(asio::io_context& io, protocol::Duration stall_after,
                  std::function<void()> on_stall);

    /// Makes the file, 0600. Once.
    tl::expected<void, std::string> watch_file(const std::string& path);
    /// An inotify; -1: no file is watched.
    int descriptor() { return file_.is_open() ? file_.native_handle() : -1; }
    /// From now on. The end of the pipe that the command is to have; -1 when there is none.
    OwnedFd start();
    void stop();

private:
    void wait_for_file();
    void wait_for_pipe();
    void wait_for_time();
    void progress();

    asio::io_context& io_;
    protocol::Duration stall_after_;
    std::function<void()> on_stall_;
    asio::posix::stream_descriptor file_;  // an inotify
    asio::posix::stream_descriptor pipe_;
    asio::steady_timer timer_;
    asio::steady_timer::time_point last_;
    bool running_ = false;
    std::array<char, 4096> ignored_{};
};

}  // namespace bullring
