// Owns: the HTTP connections, behind the project's own acceptor, which outlives a lack of
// descriptors and takes Unix sockets, too. What is asked goes to a handler; nothing here knows what
// a node is. One thread: that of the loop.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "src/base/os/owned_fd.hpp"
#include "src/http/http_request.hpp"
#include "src/node/net/acceptor.hpp"

namespace bullring {

class HttpConnection;

class HttpServer {
public:
    static constexpr std::size_t connections_max = 64;

    /// `listeners`: bound and listening, TCP or Unix. `failed`: nothing can be accepted any more.
    HttpServer(asio::io_context& io, std::vector<OwnedFd> listeners, HttpHandler handler,
               std::function<void(const std::string&)> failed);
    /// The loop does not run any more.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();
    /// In the place of the listeners; connections stay. In the loop.
    void listen_anew(OwnedFd listener);

private:
    void add_acceptor(std::vector<OwnedFd> listeners);
    void on_accepted(OwnedFd fd);
    bool make_room();

    asio::io_context& io_;
    HttpHandler handler_;
    std::function<void(const std::string&)> failed_;
    // The last one is at work. The handlers of those before may be queued: they end with this.
    std::vector<std::unique_ptr<Acceptor>> acceptors_;
    std::shared_ptr<std::list<HttpConnection*>> connections_;
};

}  // namespace bullring
