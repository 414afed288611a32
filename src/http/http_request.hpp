// A request as a handler sees it, and the two ways to answer it. Nothing here knows what a
// connection is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/http/answers.hpp"
#include "src/node/net/caller.hpp"

namespace bullring {

/// The views live as long as the call.
struct HttpRequest {
    std::string_view method;
    std::string_view path;  // decoded, without the query
    std::string_view body;
    std::function<std::string_view(std::string_view name)> header;  // empty: it has none
    std::function<Caller()> caller = [] { return Caller{}; };
    std::uint64_t number = 0;  // in the path; see HttpRoute
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
using HttpHandler = std::function<void(const HttpRequest&, HttpReplyPtr)>;

}  // namespace bullring
