// Owns: the HTTP connections: restinio behind the project's own acceptor, which outlives a lack of
// descriptors and takes Unix sockets, too. What is asked goes to a handler; nothing here knows what
// a node is. One thread: that of the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "src/base/os/owned_fd.hpp"
#include "src/http/http_request.hpp"

namespace bullring {

class HttpServer {
public:
    static constexpr std::size_t connections_max = 64;
    static constexpr std::size_t body_max = 1024;

    using Handler = HttpHandler;

    /// `listeners`: bound and listening, TCP or Unix. `failed`: nothing can be accepted any more.
    HttpServer(asio::io_context& io, std::vector<OwnedFd> listeners, Handler handler,
               std::function<void(const std::string&)> failed);
    /// The loop does not run any more.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();
    /// In the place of the listeners; connections stay. In the loop.
    void listen_anew(OwnedFd listener);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bullring
