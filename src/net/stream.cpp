#include "src/net/stream.hpp"

#include <cerrno>

#include <sys/socket.h>

namespace bullring {

namespace {

IoResult failure(int error) {
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
        return {IoStatus::would_block, 0};
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
    const ssize_t count = ::recv(descriptor_.native_handle(), into.data(), into.size(), 0);
    if (count < 0) return failure(errno);
    if (count == 0) return {IoStatus::eof, 0};
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

IoResult TcpStream::write(std::span<const std::byte> bytes) {
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    const ssize_t count =
        ::send(descriptor_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) return failure(errno);
    return {IoStatus::done, static_cast<std::size_t>(count)};
}

void TcpStream::close() {
    asio::error_code ignored;
    descriptor_.close(ignored);
}

}  // namespace bullring
