#include "src/http/http_connection.hpp"

#include <array>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "src/http/answer_text.hpp"
#include "src/http/refused_request.hpp"
#include "src/http/request_target.hpp"
#include "src/http/tokens.hpp"

namespace bullring {

namespace {

/// A client that dawdles over its request, over reading the answer, or over ending what was
/// refused.
constexpr std::chrono::seconds patience{5};
constexpr std::size_t thrown_away_max = 1024 * 1024;
/// Of a stream that its client does not read.
constexpr std::size_t unread_max = 256 * 1024;

}  // namespace

/// The open end of an answer in chunks; to a client that does not know them it ends with the
/// connection.
class HttpConnection::Stream final : public HttpStream {
public:
    Stream(std::shared_ptr<HttpConnection> connection, bool in_chunks)
        : connection_(std::move(connection)), in_chunks_(in_chunks) {}
    ~Stream() override { connection_->answer(in_chunks_ ? "0\r\n\r\n" : "", true); }

    void write(std::string text) override {
        if (in_chunks_) text = fmt::format("{:x}\r\n{}\r\n", text.size(), text);
        connection_->answer(std::move(text), false);
    }
    bool is_open() const override { return !connection_->has_ended(); }

private:
    std::shared_ptr<HttpConnection> connection_;
    bool in_chunks_;
};

class HttpConnection::Reply final : public HttpReply {
public:
    Reply(std::shared_ptr<HttpConnection> connection, const RequestParser& request)
        : connection_(std::move(connection)),
          head_only_(request.method() == std::string_view("HEAD")),
          in_chunks_(request.takes_chunks()) {}
    /// Nobody has answered: there is nothing that the client could wait for.
    ~Reply() override {
        if (connection_) connection_->close();
    }

    void send(const HttpAnswer& answer) override {
        std::string text = head_of(answer, connection_->keeps_alive_) +
                           fmt::format("Content-Length: {}\r\n\r\n", answer.body.size());
        if (!head_only_) text += answer.body;
        std::exchange(connection_, nullptr)->answer(std::move(text), true);
    }

    std::unique_ptr<HttpStream> stream(const char* type) override {
        HttpAnswer head;
        head.type = type;
        connection_->keeps_alive_ = connection_->keeps_alive_ && in_chunks_;
        connection_->answer(head_of(head, connection_->keeps_alive_) +
                                (in_chunks_ ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"),
                            false);
        return std::make_unique<Stream>(std::exchange(connection_, nullptr), in_chunks_);
    }

private:
    std::shared_ptr<HttpConnection> connection_;
    bool head_only_;
    bool in_chunks_;
};

HttpConnection::HttpConnection(asio::io_context& io, OwnedFd fd, const HttpHandler& handler,
                               std::shared_ptr<All> all)
    // A Unix socket, too, goes by the name of TCP here: the descriptor is all that is used.
    : socket_(io, asio::generic::stream_protocol(AF_INET, IPPROTO_TCP), fd.release()),
      deadline_(io),
      answered_(io, Clock::time_point::max()),
      handler_(handler),
      all_(std::move(all)),
      place_(all_->insert(all_->end(), this)) {}

HttpConnection::~HttpConnection() { all_->erase(place_); }

void HttpConnection::start() {
    asio::co_spawn(
        socket_.get_executor(), [self = shared_from_this()] { return self->serve(); },
        asio::detached);
}

void HttpConnection::refuse(std::string answer) {
    finishing_ = true;
    asio::co_spawn(
        socket_.get_executor(),
        [self = shared_from_this(), answer = std::move(answer)]() mutable {
            return self->finish(std::move(answer));
        },
        asio::detached);
}

void HttpConnection::evict() {
    evicted_ = true;
    ::shutdown(socket_.native_handle(), SHUT_RDWR);
}

asio::awaitable<void> HttpConnection::serve() {
    while (keeps_alive_) {
        RequestParser request;
        if (!co_await read_request(request)) co_return close();
        if (const http_errno error = request.error(); error != HPE_OK)
            co_return co_await finish(
                last_answer(answer_to_rubbish(error, request.seen(), handler_)));
        handle(request);
        if (!co_await write_answer()) co_return close();
    }
    co_await finish({});
}

asio::awaitable<bool> HttpConnection::read_request(RequestParser& request) {
    cut_off_later();
    std::array<char, 4096> bytes{};
    for (;;) {
        if (!input_.empty()) input_.erase(0, request.read(input_));
        if (request.is_whole() || request.error() != HPE_OK) break;
        input_.clear();
        if (request.takes_word()) {
            if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
            cut_off_later();
        }
        asio::error_code error;
        const std::size_t n = co_await socket_.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return false;
        input_.assign(bytes.data(), n);
    }
    deadline_.cancel();
    co_return true;
}

void HttpConnection::handle(const RequestParser& request) {
    under_way_ = true;
    answer_is_whole_ = false;
    keeps_alive_ = request.keeps_alive();
    const auto reply = std::make_shared<Reply>(shared_from_this(), request);
    const auto target = request_target(request.target());
    if (!target) return reply->send(answer_to_wrong_target());
    handler_({request.method(), target->path, request.body(),
              [&](std::string_view name) {
                  return !target->host.empty() && equal_ignoring_case(name, "Host")
                             ? std::string_view(target->host)
                             : request.header(name);
              },
              [socket = socket_.native_handle()] { return caller_at(socket); }},
             reply);
}

asio::awaitable<bool> HttpConnection::write_answer() {
    bool sound = true;
    while (sound && !closed_ && !(answer_is_whole_ && output_.empty())) {
        if (!output_.empty()) {
            sound = co_await write(std::exchange(output_, {}));
            continue;
        }
        asio::error_code cancelled;
        co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
    under_way_ = false;
    quiet_since_ = Clock::now();
    co_return sound && !closed_;
}

asio::awaitable<bool> HttpConnection::write(std::string text) {
    cut_off_later();
    asio::error_code error;
    co_await asio::async_write(socket_, asio::buffer(text),
                               asio::redirect_error(asio::use_awaitable, error));
    deadline_.cancel();
    co_return !error;
}

asio::awaitable<void> HttpConnection::finish(std::string answer) {
    finishing_ = true;
    if (!answer.empty() && !co_await write(std::move(answer))) co_return close();
    ::shutdown(socket_.native_handle(), SHUT_WR);
    cut_off_later();
    std::array<char, 1024> bytes{};
    for (std::size_t thrown_away = 0; thrown_away <= thrown_away_max;) {
        asio::error_code error;
        thrown_away += co_await socket_.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        if (error) break;
    }
    close();
}

void HttpConnection::answer(std::string text, bool is_all) {
    if (closed_ || answer_is_whole_) return;
    answer_is_whole_ = is_all;
    output_ += text;
    if (output_.size() > unread_max && !is_all) return close();
    answered_.cancel();
}

/// The client has closed its end. Who sends more meanwhile has not.
bool HttpConnection::has_ended() {
    if (closed_) return true;
    char byte = 0;
    return ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void HttpConnection::cut_off_later() {
    deadline_.expires_after(patience);
    deadline_.async_wait([self = weak_from_this()](const asio::error_code& error) {
        const auto connection = self.lock();
        if (!connection || error) return;
        // It may have been put off when this was on its way.
        if (connection->deadline_.expiry() <= Clock::now()) connection->close();
    });
}

void HttpConnection::close() {
    closed_ = true;
    asio::error_code ignored;
    deadline_.cancel(ignored);
    answered_.cancel(ignored);
    socket_.close(ignored);
}

}  // namespace bullring
