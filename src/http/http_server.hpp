// Owns: the HTTP connections: restinio behind the project's own acceptor, which outlives a lack of
// descriptors and takes Unix sockets, too. What is asked goes to a handler; nothing here knows what
// a node is. One thread: that of the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <asio/io_context.hpp>

#include "src/http/answers.hpp"
#include "src/os/owned_fd.hpp"

namespace bullring {

/// The views live as long as the call.
struct HttpRequest {
    std::string_view method;
    std::string_view path;  // without the query
    std::string_view body;
    std::function<std::string_view(std::string_view name)> header;  // empty: it has none
};

/// The open end of a response that goes on: server-sent events.
class HttpStream {
public:
    HttpStream() = default;
    HttpStream(const HttpStream&) = delete;
    HttpStream& operator=(const HttpStream&) = delete;
    virtual ~HttpStream() = default;
    virtual void write(std::string text) = 0;
    /// The client has not closed it, as far as is known.
    virtual bool is_open() const = 0;
};

/// To be answered once, at any time.
class HttpReply {
public:
    HttpReply() = default;
    HttpReply(const HttpReply&) = delete;
    HttpReply& operator=(const HttpReply&) = delete;
    virtual ~HttpReply() = default;
    virtual void send(const HttpAnswer& answer) = 0;
    virtual std::unique_ptr<HttpStream> stream(const char* type) = 0;
};
using HttpReplyPtr = std::shared_ptr<HttpReply>;

class HttpServer {
public:
    static constexpr std::size_t connections_max = 64;
    static constexpr std::size_t body_max = 1024;

    using Handler = std::function<void(const HttpRequest&, HttpReplyPtr)>;

    /// `listeners`: bound and listening, TCP or Unix. `failed`: nothing can be accepted any more.
    HttpServer(asio::io_context& io, std::vector<OwnedFd> listeners, Handler handler,
               std::function<void(const std::string&)> failed);
    /// The loop does not run any more.
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    void start();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bullring
