// Owns: the records of each HTTP connection beside restinio's: the size of its head, the work that
// is under way for it, and the time since which it is idle. Included by http_server.cpp alone. One
// thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <http_parser.h>
#include <sys/socket.h>

#include "src/http/head_meter.hpp"

namespace bullring {

/// A client that dawdles over its request, over reading the answer, or over ending what was
/// refused.
inline constexpr std::chrono::seconds http_patience{5};

class HttpConnection;

/// The state that the connections of a server share.
struct HttpConnections {
    std::list<HttpConnection*> open;
    /// The whole answer to what the parser has given up on; `bytes`: where it has.
    std::function<std::string(http_errno error, std::string_view bytes)> answer_to_rubbish;
    std::string answer_to_large_head;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
public:
    using Clock = std::chrono::steady_clock;

    HttpConnection(asio::ip::tcp::socket its_socket, std::shared_ptr<HttpConnections> all_of_them)
        : socket(std::move(its_socket)), all(std::move(all_of_them)) {
        place_ = all->open.insert(all->open.end(), this);
    }
    HttpConnection(const HttpConnection&) = delete;
    HttpConnection& operator=(const HttpConnection&) = delete;
    ~HttpConnection() { all->open.erase(place_); }

    /// The client has closed its end. Who sends more meanwhile has not.
    bool has_ended() {
        if (!socket.is_open()) return true;
        char byte = 0;
        return ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    }

    /// As much as goes out at once; nothing that restinio writes may be under way.
    void send_now(std::string_view bytes) {
        ::send(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    /// The last answer, and the end. What is left unread at a close would make the kernel send
    /// RST, and the answer would be lost: so what still comes is thrown away first, for a while.
    void refuse(std::string_view answer) {
        draining_ = true;
        send_now(answer);
        ::shutdown(socket.native_handle(), SHUT_WR);
        deadline_.expires_after(http_patience);
        deadline_.async_wait([self = shared_from_this()](const asio::error_code& error) {
            if (!error) self->close();
        });
        drain();
    }
    /// It closes itself when that is done.
    bool is_draining() const { return draining_; }

    /// Ends it at once, for another one's sake: its reader sees an end.
    void evict() {
        evicted_ = true;
        ::shutdown(socket.native_handle(), SHUT_RDWR);
    }
    bool is_evicted() const { return evicted_; }

    /// No request of it waits for its answer.
    bool is_idle() const { return requests_ == 0; }
    Clock::time_point quiet_since() const { return quiet_since_; }

    asio::ip::tcp::socket socket;
    HeadMeter meter;
    http_parser* parser = nullptr;  // restinio's, once a request has begun
    std::shared_ptr<HttpConnections> all;

    /// As long as it lives the connection has a request that is not answered.
    class Request {
    public:
        explicit Request(std::shared_ptr<HttpConnection> connection)
            : connection_(std::move(connection)) {
            ++connection_->requests_;
        }
        Request(const Request&) = delete;
        Request& operator=(const Request&) = delete;
        ~Request() {
            --connection_->requests_;
            connection_->quiet_since_ = Clock::now();
        }
        HttpConnection& connection() const { return *connection_; }

    private:
        std::shared_ptr<HttpConnection> connection_;
    };

private:
    static constexpr std::size_t drained_max = 1024 * 1024;

    void close() {
        asio::error_code ignored;
        deadline_.cancel(ignored);
        socket.close(ignored);
    }
    void drain() {
        socket.async_read_some(
            asio::buffer(thrown_away_),
            [self = shared_from_this()](const asio::error_code& error, std::size_t n) {
                self->drained_ += n;
                if (error || self->drained_ > drained_max) return self->close();
                self->drain();
            });
    }

    std::list<HttpConnection*>::iterator place_;
    int requests_ = 0;
    Clock::time_point quiet_since_ = Clock::now();
    bool draining_ = false;
    bool evicted_ = false;
    asio::steady_timer deadline_{socket.get_executor()};
    std::array<char, 1024> thrown_away_{};
    std::size_t drained_ = 0;
};

using HttpConnectionPtr = std::shared_ptr<HttpConnection>;

/// As long as it lives the bytes of a connection are being parsed: the parser's callbacks, and the
/// request that it finds, belong to that one.
class HttpParsing {
public:
    /// `bytes`: what has come just now; empty when what came earlier is parsed.
    HttpParsing(const HttpConnectionPtr& connection, std::string_view bytes)
        : connection_(connection), bytes_(bytes), before_(slot()) {
        slot() = this;
    }
    HttpParsing(const HttpParsing&) = delete;
    HttpParsing& operator=(const HttpParsing&) = delete;
    ~HttpParsing() { slot() = before_; }

    static const HttpParsing* current() { return slot(); }
    const HttpConnectionPtr& connection() const { return connection_; }
    std::string_view bytes() const { return bytes_; }

private:
    static const HttpParsing*& slot() {
        static thread_local const HttpParsing* now = nullptr;
        return now;
    }

    HttpConnectionPtr connection_;
    std::string_view bytes_;
    const HttpParsing* before_;
};

}  // namespace bullring
