// A connection that is secured by TLS, as a Stream.
#pragma once

#include <memory>

#include <asio/io_context.hpp>

#include "src/node/net/stream.hpp"
#include "src/security/tls_connection.hpp"

namespace bullring {

/// Takes the descriptor over; it must be non-blocking.
class TlsStream final : public Stream {
public:
    TlsStream(asio::io_context& io, int fd, std::unique_ptr<TlsConnection> connection);

    /// Until it says that it is done, nothing else may be asked for.
    TlsConnection::Step step() { return connection_->step(descriptor_.native_handle()); }
    IoResult read(std::span<std::byte> into) override;
    bool pending() const override { return connection_->pending(); }
    IoResult write(std::span<const std::byte> bytes) override;
    bool unsent() const override { return connection_->unsent(); }
    IoResult send_rest() override;
    void say_end() override;
    std::string why_ended() const override { return connection_->problem(); }
    asio::posix::stream_descriptor& descriptor() override { return descriptor_; }
    void close() override;

private:
    asio::posix::stream_descriptor descriptor_;
    std::unique_ptr<TlsConnection> connection_;
};

}  // namespace bullring
