// Owns: a socket in the data directory by which processes of this machine reach a node: takes their
// connections, a few at a time, and is made anew when somebody has removed its file.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "src/base/os/local_socket.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

class WatchedListener {
public:
    struct Place {
        const char* name;  // of its file
        int type;          // as in LocalListener::open(), and the next
        std::optional<SocketGroup> group{};
    };
    using Taken = std::function<void(OwnedFd connection)>;

    WatchedListener(asio::io_context& io, const NodeOptions& options, Place place, Taken taken);

    /// The error is for people.
    tl::expected<void, std::string> open();
    /// Of the data directory. Connections stay.
    void file_removed(const std::string& name);
    void close();

private:
    void accept_some();
    void accept_after(std::chrono::milliseconds pause);

    const NodeOptions& options_;
    Place place_;
    Taken taken_;
    asio::posix::stream_descriptor listener_;
    asio::steady_timer timer_;
    std::optional<LocalListener> socket_;
};

}  // namespace bullring
