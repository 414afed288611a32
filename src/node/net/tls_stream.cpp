#include "src/node/net/tls_stream.hpp"

#include <utility>

namespace bullring {

TlsStream::TlsStream(asio::io_context& io, int fd, std::unique_ptr<TlsConnection> connection)
    : descriptor_(io, fd), connection_(std::move(connection)) {}

IoResult TlsStream::read(std::span<std::byte> into) {
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    return connection_->read(descriptor_.native_handle(), into);
}

IoResult TlsStream::write(std::span<const std::byte> bytes) {
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    return connection_->write(descriptor_.native_handle(), bytes);
}

IoResult TlsStream::send_rest() {
    if (!descriptor_.is_open()) return {IoStatus::reset, 0};
    return connection_->send_rest(descriptor_.native_handle());
}

void TlsStream::say_end() {
    if (descriptor_.is_open()) connection_->say_end(descriptor_.native_handle());
}

void TlsStream::close() {
    asio::error_code ignored;
    descriptor_.close(ignored);
}

}  // namespace bullring
