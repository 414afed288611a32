// The socket that restinio reads and writes by. It answers what restinio only closes on: a head
// that is too large, and what is no request. Included by http_server.cpp alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <asio/bind_executor.hpp>
#include <restinio/all.hpp>

#include "src/http/http_connection.hpp"

namespace bullring {

class HttpSocket {
public:
    using Socket = asio::ip::tcp::socket;
    using executor_type = Socket::executor_type;  // NOLINT: Asio looks for this name

    HttpSocket(Socket socket, std::shared_ptr<HttpConnections> all)
        : state_(std::make_shared<HttpConnection>(std::move(socket), std::move(all))) {}

    auto& lowest_layer() { return state_->socket.lowest_layer(); }
    const auto& lowest_layer() const { return state_->socket.lowest_layer(); }
    executor_type get_executor() { return state_->socket.get_executor(); }
    bool is_open() const { return state_->socket.is_open() && !state_->is_draining(); }
    template <class... A>
    void cancel(A&&... a) {
        state_->socket.cancel(std::forward<A>(a)...);
    }
    /// The first step of restinio's close.
    template <class... A>
    void shutdown(A&&... a) {
        if (state_->is_draining()) return;
        if (const http_errno error = parser_error(); error != HPE_OK) {
            const HttpParsing* const now = HttpParsing::current();
            return state_->refuse(
                state_->all->answer_to_rubbish(error, now != nullptr ? now->bytes() : ""));
        }
        state_->socket.shutdown(std::forward<A>(a)...);
    }
    template <class... A>
    void close(A&&... a) {
        if (!state_->is_draining()) state_->socket.close(std::forward<A>(a)...);
    }

    // The handler owns what the buffers are made from: it is moved when they have been.
    template <class Buffers, class Handler>
    void async_read_some(const Buffers& buffers, Handler&& handler) {
        const asio::mutable_buffer buffer = *asio::buffer_sequence_begin(buffers);
        const auto executor = executor_of(handler);
        auto on_read = [state = state_, buffer, handler = std::forward<Handler>(handler)](
                           const asio::error_code& error, std::size_t n) mutable {
            if (error) return handler(error, n);
            const std::string_view bytes(static_cast<const char*>(buffer.data()), n);
            if (state->meter.read(bytes) == HeadMeter::Verdict::too_large) {
                state->refuse(state->all->answer_to_large_head);
                return handler(asio::error::eof, 0);  // restinio lets go of it
            }
            const HttpParsing parsing(state, bytes);
            handler(error, n);
        };
        state_->socket.async_read_some(buffer, asio::bind_executor(executor, std::move(on_read)));
    }
    template <class Buffers, class Handler>
    void async_write_some(const Buffers& buffers, Handler&& handler) {
        state_->meter.begin_again();  // a request is whole when it is answered
        const auto executor = executor_of(handler);
        auto on_written = [state = state_, handler = std::forward<Handler>(handler)](
                              const asio::error_code& error, std::size_t n) mutable {
            // After an answer comes what the client has sent beyond its request.
            const HttpParsing parsing(state, "");
            handler(error, n);
        };
        state_->socket.async_write_some(buffers,
                                        asio::bind_executor(executor, std::move(on_written)));
    }

private:
    template <class Handler>
    auto executor_of(const Handler& handler) const {
        return asio::get_associated_executor(handler, state_->socket.get_executor());
    }

    /// Why restinio closes, if it is because of what was sent.
    http_errno parser_error() const {
        const HttpParsing* const now = HttpParsing::current();
        if (now == nullptr || now->connection() != state_) return HPE_OK;
        if (state_->parser == nullptr) return HPE_INVALID_METHOD;  // its first byte is of none
        const http_errno error = HTTP_PARSER_ERRNO(state_->parser);
        return error == HPE_PAUSED ? HPE_OK : error;  // paused: the request is whole
    }

    std::shared_ptr<HttpConnection> state_;
};

// restinio calls these for a connection, and has them for its own two kinds of sockets; the
// argument leads to them.
template <class Connection, class Start, class Failed>
void prepare_connection_and_start_read(HttpSocket& /*socket*/, Connection& /*connection*/,
                                       Start start, Failed /*failed*/) {
    start();
}
inline restinio::impl::tls_socket_t* make_tls_socket_pointer_for_state_listener(
    HttpSocket& /*socket*/) noexcept {
    return nullptr;
}

}  // namespace bullring
