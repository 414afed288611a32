#include "src/net/stream.hpp"

#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace bullring {

namespace {

/// Not by the error's number: some leave the connection standing (ENOBUFS), and closing it then
/// would release a lease that is held.
bool in_error_state(int socket) {
    tcp_info info{};
    socklen_t length = sizeof info;
    return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_state == TCP_CLOSE;
}

IoResult failure(int socket, int error) {
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
        return {IoStatus::would_block, 0};
    if (!in_error_state(socket)) return {IoStatus::unusable, 0};
    if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH) {
        return {IoStatus::timeout, 0};
    }
    return {IoStatus::reset, 0};
}

}  // namespace

TcpStream::TcpStream(asio::io_context& io, int fd) : descriptor_(io, fd) {}

IoResult TcpStream::read(std::span<std::byte> into) {
    // A read into no room returns 0 as well, and a closed descriptor must not look like FIN.
    if (into.empty()) return {IoStatus::would_block, 0};
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    const int socket = descriptor_.native_handle();
    const ssize_t count = ::recv(socket, into.data(), into.size(), 0);
    if (count < 0) return failure(socket, errno);
    if (count == 0) return {IoStatus::eof, 0};
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

IoResult TcpStream::write(std::span<const std::byte> bytes) {
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    const int socket = descriptor_.native_handle();
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return failure(socket, errno);
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

void TcpStream::close() {
    asio::error_code ignored;
    descriptor_.close(ignored);
}

}  // namespace bullring
