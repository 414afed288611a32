// Owns: one attached process, as the node's loop sees it: its connection, its page, and the end of
// its process. Lines go in and out; what they mean is for others.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/attach/candidacies.hpp"
#include "src/base/os/peer_process.hpp"
#include "src/task/attach/attach_page.hpp"

namespace bullring {

class AttachClient : public std::enable_shared_from_this<AttachClient> {
public:
    /// Of a line, with its end.
    static constexpr std::size_t line_bytes_max = 4096;
    /// That a client has not read yet. One that reads slower than it is told is left alone.
    static constexpr std::size_t unread_bytes_max = std::size_t{64} * 1024;

    struct Callbacks {
        std::function<void(std::string_view line)> line;
        std::function<void()> lost;    // the connection has ended, once
        std::function<void()> closed;  // and the process has not ended, a moment later
        std::function<void()> ended;   // the process has ended, once
    };

    AttachClient(asio::io_context& io, protocol::ClientId id, OwnedFd socket, AttachPage page);

    /// Sends `greeting` with the page, and begins to read.
    void start(const std::string& greeting, Callbacks callbacks);
    void send(std::string_view line);
    /// After what has been sent; lost() does not follow. Its process is watched as before.
    void close();

    protocol::ClientId id() const { return id_; }
    AttachPage& page() { return page_; }
    const PeerProcess& peer() const { return peer_; }
    /// A pidfd; -1: its process can't be watched, or has ended.
    int process() { return process_.is_open() ? process_.native_handle() : -1; }
    /// While it leads its process is killed with the node.
    bool ends_with_node = false;
    /// It has led, and has not said since that its work has ended.
    bool owes_done = false;
    bool connected() const { return socket_.is_open(); }

private:
    /// A handler that does so if there is no error and this client is still there: one that has
    /// been queued is not taken back. It keeps the client for that long, whatever the callbacks do.
    template <class Does>
    auto if_there(Does does) {
        return [weak = weak_from_this(), does](const asio::error_code& error = {}) {
            if (const auto kept = weak.lock(); kept && !error) does();
        };
    }
    void watch_process();
    void read();
    void take_lines();
    void write_rest();
    void lose();
    void read_rest();
    void lose_soon();

    protocol::ClientId id_;
    asio::posix::stream_descriptor socket_;
    asio::posix::stream_descriptor process_;
    asio::steady_timer pause_;
    PeerProcess peer_;
    AttachPage page_;
    Callbacks callbacks_;
    std::string in_;
    std::string out_;
    bool writes_ = false;
    int lines_ = 0;  // in the present period
    std::chrono::steady_clock::time_point period_began_;
};

}  // namespace bullring
