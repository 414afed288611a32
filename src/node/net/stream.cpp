#include "src/node/net/stream.hpp"

#include <cerrno>

#include <sys/socket.h>

#include "src/base/os/socket_error.hpp"

namespace bullring {

TcpStream::TcpStream(asio::io_context& io, int fd) : descriptor_(io, fd) {}

IoResult TcpStream::read(std::span<std::byte> into) {
    // A read into no room returns 0 as well, and a closed descriptor must not look like FIN.
    if (into.empty()) return {IoStatus::would_block, 0};
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    const int socket = descriptor_.native_handle();
    const ssize_t count = ::recv(socket, into.data(), into.size(), 0);
    if (count < 0) return socket_failure(socket, errno);
    if (count == 0) return {IoStatus::eof, 0};
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

IoResult TcpStream::write(std::span<const std::byte> bytes) {
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    const int socket = descriptor_.native_handle();
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return socket_failure(socket, errno);
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

void TcpStream::close() {
    asio::error_code ignored;
    descriptor_.close(ignored);
}

}  // namespace bullring
