// Cuts a stream of bytes into frames, with the cap checked on the length alone, before any buffer
// grows for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/messages.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

/// How the reason begins when the other end has another --security.
inline constexpr std::string_view speaks_tls = "it speaks TLS";

class FrameReader {
public:
    explicit FrameReader(std::size_t frame_bytes_max_now = first_frame_bytes_max);

    /// After the handshake longer frames are allowed, of the version that is spoken from then on.
    void set_frame_bytes_max(std::size_t bytes);
    void set_version(std::uint16_t spoken) { version_ = spoken; }
    /// Where the next read from the socket goes; valid until `commit`, never empty. Take out every
    /// whole frame with `next` first: then the buffer holds no more than one frame's beginning.
    std::span<std::byte> prepare();
    void commit(std::size_t bytes);
    /// The next whole frame, nullopt when more bytes are needed, or why the stream is rubbish
    /// (after which it stays so).
    tl::expected<std::optional<Frame>, std::string> next();
    /// A frame has begun and is not whole yet.
    bool in_frame() const { return begin_ != end_; }

private:
    std::vector<std::byte> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t frame_bytes_max_;
    std::uint16_t version_ = protocol::version_highest;
    std::string broken_;  // why the stream is rubbish, once it is
};

}  // namespace bullring
