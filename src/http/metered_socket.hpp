// A connection as restinio reads it, whose requests are measured on their way: one with a head that
// is too large is answered by 431, and not only cut off. Included by http_server.cpp alone.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <asio/bind_executor.hpp>
#include <asio/ip/tcp.hpp>
#include <restinio/all.hpp>
#include <sys/socket.h>

#include "src/http/head_meter.hpp"

namespace bullring {

struct MeteredConnection;

/// What the connections of a server share.
struct Connections {
    std::size_t open = 0;
    /// The one whose bytes are being parsed: a request that is handled meanwhile has come from it.
    std::weak_ptr<MeteredConnection> reading;
};

struct MeteredConnection {
    MeteredConnection(asio::ip::tcp::socket its_socket, std::shared_ptr<Connections> all_of_them)
        : socket(std::move(its_socket)), all(std::move(all_of_them)) {
        ++all->open;
    }
    MeteredConnection(const MeteredConnection&) = delete;
    MeteredConnection& operator=(const MeteredConnection&) = delete;
    ~MeteredConnection() { --all->open; }

    asio::ip::tcp::socket socket;
    HeadMeter meter;
    bool refused = false;  // what still comes is thrown away
    std::shared_ptr<Connections> all;
};

/// As long as it lives this is the one whose bytes are being parsed.
class Reading {
public:
    explicit Reading(const std::shared_ptr<MeteredConnection>& connection) : all_(connection->all) {
        all_->reading = connection;
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { all_->reading.reset(); }

private:
    std::shared_ptr<Connections> all_;
};

/// The client has closed its end. Who sends more meanwhile has not.
inline bool has_ended(MeteredConnection& connection) {
    if (!connection.socket.is_open()) return true;
    char byte = 0;
    const int fd = connection.socket.native_handle();
    return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

class MeteredSocket {
public:
    using Socket = asio::ip::tcp::socket;
    using executor_type = Socket::executor_type;  // NOLINT: Asio looks for this name

    MeteredSocket(Socket socket, std::shared_ptr<Connections> all)
        : state_(std::make_shared<MeteredConnection>(std::move(socket), std::move(all))) {}

    auto& lowest_layer() { return state_->socket.lowest_layer(); }
    const auto& lowest_layer() const { return state_->socket.lowest_layer(); }
    executor_type get_executor() { return state_->socket.get_executor(); }
    bool is_open() const { return state_->socket.is_open(); }
    template <class... A>
    void cancel(A&&... a) {
        state_->socket.cancel(std::forward<A>(a)...);
    }
    template <class... A>
    void shutdown(A&&... a) {
        state_->socket.shutdown(std::forward<A>(a)...);
    }
    template <class... A>
    void close(A&&... a) {
        state_->socket.close(std::forward<A>(a)...);
    }

    template <class Buffers, class Handler>
    void async_read_some(const Buffers& buffers, Handler handler) {
        const asio::mutable_buffer buffer = *asio::buffer_sequence_begin(buffers);
        read(state_, buffer, std::move(handler));
    }
    template <class Buffers, class Handler>
    auto async_write_some(const Buffers& buffers, Handler&& handler) {
        state_->meter.begin_again();  // a request is whole when it is answered
        return state_->socket.async_write_some(buffers, std::forward<Handler>(handler));
    }

private:
    template <class Handler>
    static void read(std::shared_ptr<MeteredConnection> state, asio::mutable_buffer buffer,
                     Handler handler) {
        Socket& socket = state->socket;
        const auto executor = asio::get_associated_executor(handler, socket.get_executor());
        socket.async_read_some(
            buffer, asio::bind_executor(
                        executor, [state = std::move(state), buffer, handler = std::move(handler)](
                                      const asio::error_code& error, std::size_t n) mutable {
                            const std::string_view bytes(static_cast<const char*>(buffer.data()),
                                                         n);
                            if (!error && !state->refused) refuse_if_too_large(*state, bytes);
                            if (error || !state->refused) {
                                const Reading reading(state);
                                return handler(error, n);
                            }
                            // What is left unread at the close would make the kernel send RST, and
                            // the answer would be lost. The time limit for a request ends it.
                            read(std::move(state), buffer, std::move(handler));
                        }));
    }

    static void refuse_if_too_large(MeteredConnection& connection, std::string_view bytes) {
        if (connection.meter.read(bytes) == HeadMeter::Verdict::fits) return;
        connection.refused = true;
        constexpr std::string_view answer =
            "HTTP/1.1 431 Request Header Fields Too Large\r\n"
            "Connection: close\r\nContent-Length: 0\r\n\r\n";
        const int fd = connection.socket.native_handle();
        ::send(fd, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        ::shutdown(fd, SHUT_WR);
    }

    std::shared_ptr<MeteredConnection> state_;
};

// restinio calls these for a connection, and has them for its own two kinds of sockets; the
// argument leads to them.
template <class Connection, class Start, class Failed>
void prepare_connection_and_start_read(MeteredSocket& /*socket*/, Connection& /*connection*/,
                                       Start start, Failed /*failed*/) {
    start();
}
inline restinio::impl::tls_socket_t* make_tls_socket_pointer_for_state_listener(
    MeteredSocket& /*socket*/) noexcept {
    return nullptr;
}

}  // namespace bullring
