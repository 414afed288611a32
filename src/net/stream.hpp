// The seam between a session and what carries its bytes. Owns: the meaning of what the kernel says
// about a connection. `eof` is said in one case alone: a read of more than zero bytes returned
// zero, and this process has not closed the connection itself. Everything that rule R4 (the release
// of a lease by FIN) rests on is in this file; a TLS stream takes the socket's place by
// implementing Stream. Must never call shutdown() nor set SO_LINGER.
#pragma once

#include <cstddef>
#include <span>

#include <asio/posix/stream_descriptor.hpp>

namespace bullring {

enum class IoStatus {
    done,         // `bytes` of them
    would_block,  // wait for the descriptor, then try again
    eof,          // the other end is closed, and all that it sent has been read
    reset,        // the connection is in an error state: no FIN can come of closing it
    timeout,      // the same, because nobody answered
    unusable,     // an error, and yet the connection stands: closing it would send FIN
};

struct IoResult {
    IoStatus status = IoStatus::done;
    std::size_t bytes = 0;
};

/// Never blocks. `descriptor` is only waited on.
class Stream {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    virtual IoResult read(std::span<std::byte> into) = 0;
    virtual IoResult write(std::span<const std::byte> bytes) = 0;
    virtual asio::posix::stream_descriptor& descriptor() = 0;
    /// Closes for good; what the kernel has taken is still sent, then FIN.
    virtual void close() = 0;
};

/// A plain TCP socket. Takes the descriptor over; it must be non-blocking.
class TcpStream final : public Stream {
public:
    TcpStream(asio::io_context& io, int fd);

    IoResult read(std::span<std::byte> into) override;
    IoResult write(std::span<const std::byte> bytes) override;
    asio::posix::stream_descriptor& descriptor() override { return descriptor_; }
    void close() override;

private:
    asio::posix::stream_descriptor descriptor_;
};

}  // namespace bullring
