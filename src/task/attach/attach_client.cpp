#include "src/task/attach/attach_client.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/readiness.hpp"
#include "src/base/os/record_socket.hpp"
#include "src/task/attach/attach_text.hpp"

namespace bullring {

using Wait = asio::posix::descriptor_base;

namespace {

/// A client that says more is read on in the next period, and the socket holds the rest back.
constexpr std::chrono::milliseconds period{100};
constexpr int lines_in_a_period = 64;
/// Of its connection.
constexpr std::chrono::milliseconds process_ends_within{5};

}  // namespace

AttachClient::AttachClient(asio::io_context& io, protocol::ClientId id, OwnedFd socket,
                           AttachPage page)
    : id_(id),
      socket_(io),
      process_(io),
      pause_(io),
      peer_(peer_of(socket.get())),
      page_(std::move(page)) {
    socket_.assign(socket.release());
    if (peer_.process) process_.assign(peer_.process.release());
}

void AttachClient::start(const std::string& greeting, Callbacks callbacks) {
    callbacks_ = std::move(callbacks);
    const OwnedFd page = page_.take_descriptor();
    // The buffer of a new connection is empty.
    if (!send_record(socket_.native_handle(), greeting.data(), greeting.size(), page.get()))
        return lose_soon();
    watch_process();
    read();
}

void AttachClient::watch_process() {
    if (!process_.is_open()) return;
    process_.async_wait(Wait::wait_read, if_there([this] {
                            // Else the lease of a process that lives would be released.
                            if (!is_ready(process_.native_handle())) return watch_process();
                            process_.close();
                            close();
                            callbacks_.ended();
                        }));
}

void AttachClient::read() {
    socket_.async_wait(Wait::wait_read, if_there([this] {
                           std::array<char, line_bytes_max> bytes{};
                           const ssize_t count = ::recv(socket_.native_handle(), bytes.data(),
                                                        bytes.size(), MSG_DONTWAIT);
                           if (count < 0 && (errno == EAGAIN || errno == EINTR)) return read();
                           if (count <= 0) return lose();
                           in_.append(bytes.data(), static_cast<std::size_t>(count));
                           take_lines();
                       }));
}

/// Calls back once a line at most: the client may be gone after each.
void AttachClient::take_lines() {
    const auto now = std::chrono::steady_clock::now();
    if (now - period_began_ >= period) {
        period_began_ = now;
        lines_ = 0;
    }
    const std::size_t end = in_.find('\n');
    if (end == std::string::npos) {
        if (in_.size() < line_bytes_max) return read();
        send(attach_error_line(
            fmt::format("a line is longer than {} bytes; this connection ends", line_bytes_max)));
        return lose();
    }
    if (++lines_ > lines_in_a_period) {
        --lines_;
        pause_.expires_at(period_began_ + period);
        return pause_.async_wait(if_there([this] {
            if (connected()) take_lines();
        }));
    }
    const std::string line = in_.substr(0, end);
    in_.erase(0, end + 1);
    asio::post(socket_.get_executor(), if_there([this] {
                   if (connected()) take_lines();
               }));
    if (!line.empty()) callbacks_.line(line);
}

void AttachClient::send(std::string_view line) {
    if (!connected()) return;
    if (out_.size() + line.size() > unread_bytes_max) {
        log_limited(LogLevel::info, "attach", {},
                    fmt::format("process {} ({}) does not read what it is told; its connection "
                                "ends",
                                peer_.pid, peer_.name));
        return lose_soon();
    }
    out_ += line;
    if (!writes_) write_rest();
}

void AttachClient::write_rest() {
    while (!out_.empty()) {
        const ssize_t count =
            ::send(socket_.native_handle(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) break;
        out_.erase(0, static_cast<std::size_t>(count));
    }
    // The end of a connection is seen by those who read.
    writes_ = !out_.empty() && errno == EAGAIN;
    if (!writes_) return out_.clear();
    socket_.async_wait(Wait::wait_write, if_there([this] { write_rest(); }));
}

void AttachClient::close() {
    asio::error_code ignored;
    pause_.cancel();
    socket_.close(ignored);
}

void AttachClient::lose() {
    if (!connected()) return;
    read_rest();
    close();
    callbacks_.lost();
    if (!process_.is_open()) return callbacks_.closed();
    // A process that ends closes its files first.
    pause_.expires_after(process_ends_within);
    pause_.async_wait(if_there([this] {
        if (process_.is_open()) callbacks_.closed();
    }));
}

/// A socket that is closed with bytes unread takes away what its other end has not read yet.
void AttachClient::read_rest() {
    std::array<char, line_bytes_max> bytes{};
    for (std::size_t left = unread_bytes_max; left > 0; left -= bytes.size())
        if (::recv(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) return;
}

/// Not within the call of somebody who goes on with this client.
void AttachClient::lose_soon() {
    asio::post(socket_.get_executor(), if_there([this] { lose(); }));
}

}  // namespace bullring
