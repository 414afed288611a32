// The seam between a session and what carries its bytes. Owns: the meaning of what the kernel says
// about a connection. `eof` is what releases a lease early (rule R4), and each kind of stream says
// it in one case alone: a plain one when a read of more than zero bytes returned zero, and this
// process has not closed the connection itself; a secured one when the other end has said, under
// its keys, that it ends. Must never call shutdown() nor set SO_LINGER.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <asio/posix/stream_descriptor.hpp>

#include "src/base/os/io_result.hpp"

namespace bullring {

/// Never blocks. `descriptor` is only waited on.
class Stream {
public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;

    virtual IoResult read(std::span<std::byte> into) = 0;
    /// Bytes that have been read from the descriptor wait here: it may stay silent.
    virtual bool pending() const { return false; }
    /// `done`: the bytes are taken, and will not be looked at again; some of them may be unsent.
    virtual IoResult write(std::span<const std::byte> bytes) = 0;
    virtual bool unsent() const { return false; }
    virtual IoResult send_rest() { return {IoStatus::done, 0}; }
    /// Before close(), when nothing is unsent: this end has let the connection go.
    virtual void say_end() {}
    /// Why reading has ended, for people; empty when there is nothing to say.
    virtual std::string why_ended() const { return {}; }
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
