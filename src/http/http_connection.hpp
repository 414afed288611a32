// Owns: one HTTP connection: it reads a request, hands it to the handler, and reads the next one
// when its answer has been written. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "src/base/os/owned_fd.hpp"
#include "src/http/http_request.hpp"
#include "src/http/request_parser.hpp"

namespace bullring {

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
public:
    using Clock = std::chrono::steady_clock;
    using All = std::list<HttpConnection*>;

    /// Stands in `all` as long as it lives. `handler`: for as long as the loop runs.
    HttpConnection(asio::io_context& io, OwnedFd fd, const HttpHandler& handler,
                   std::shared_ptr<All> all);
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;
    ~HttpConnection();

    /// Serves it until it ends; or only tells it that, and ends it.
    void start();
    void refuse(std::string answer);
    /// Ends it at once, for another one's sake: its reader sees an end.
    void evict();

    bool is_evicted() const { return evicted_; }
    /// It has had its last answer.
    bool is_finishing() const { return finishing_; }
    /// No request of it waits for its answer.
    bool is_idle() const { return !under_way_; }
    Clock::time_point quiet_since() const { return quiet_since_; }

private:
    class Reply;
    class Stream;

    asio::awaitable<void> serve();
    asio::awaitable<bool> read_request(RequestParser& request);
    void handle(const RequestParser& request);
    /// Writes the answer as it comes, until it is whole. False: the client is gone.
    asio::awaitable<bool> write_answer();
    asio::awaitable<bool> write(std::string text);
    /// The end. What is left unread at a close would make the kernel send RST, and the answer would
    /// be lost: so what still comes is thrown away first, for a while.
    asio::awaitable<void> finish(std::string answer);
    /// Of an answer: it, or the next part of it.
    void answer(std::string text, bool is_all);
    bool has_ended();
    void cut_off_later();
    void close();

    asio::generic::stream_protocol::socket socket_;
    asio::steady_timer deadline_;
    asio::steady_timer answered_;  // never due: it is cancelled when there is more to write
    const HttpHandler& handler_;
    std::shared_ptr<All> all_;
    All::iterator place_;
    std::string input_;   // read, and of the next request
    std::string output_;  // to be written
    bool answer_is_whole_ = false;
    bool keeps_alive_ = true;
    bool under_way_ = false;
    bool finishing_ = false;
    bool evicted_ = false;
    bool closed_ = false;
    Clock::time_point quiet_since_ = Clock::now();
};

}  // namespace bullring
