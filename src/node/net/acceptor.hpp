// Owns: the listening sockets. Hands over what it accepts and survives a lack of descriptors. A
// listener that is dead for good is never silent: it stops the node.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "src/base/os/tcp.hpp"

namespace bullring {

class Acceptor {
public:
    struct Callbacks {
        std::function<void(OwnedFd)> accepted;
        std::function<void(const std::string&)> failed;  // the node can't go on
    };

    Acceptor(asio::io_context& io, std::vector<OwnedFd> listeners, Callbacks callbacks);

    void start();
    void stop();

private:
    struct Listener {
        Listener(asio::io_context& io, int fd) : descriptor(io, fd), back_off(io) {}
        asio::posix::stream_descriptor descriptor;
        asio::steady_timer back_off;
    };

    asio::awaitable<void> accept_for_ever(Listener& listener);
    /// Takes what is there; false when it has to wait for descriptors or memory.
    bool accept_all(Listener& listener);

    asio::io_context& io_;
    Callbacks callbacks_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    bool stopped_ = false;
};

}  // namespace bullring
