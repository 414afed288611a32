#include "src/wire/framing.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bullring {
namespace {

constexpr std::size_t length_bytes = 4;
// Room for dozens of heartbeats in one read; grows only for a longer frame whose length is in
// range.
constexpr std::size_t buffer_bytes = 4 * 1024;

std::size_t frame_length(const std::byte* at) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        length = length << 8U | std::to_integer<std::size_t>(at[i]);
    }
    return length_bytes + length;
}

/// A handshake of TLS 1.x, or an alert: as a frame it would have 350 MiB.
bool is_tls(const std::byte* at) {
    const bool record = at[0] == std::byte{0x16} || at[0] == std::byte{0x15};
    return record && at[1] == std::byte{0x03};
}

}  // namespace

FrameReader::FrameReader(std::size_t frame_bytes_max_now)
    : buffer_(buffer_bytes), frame_bytes_max_(frame_bytes_max_now) {}

void FrameReader::set_frame_bytes_max(std::size_t bytes) { frame_bytes_max_ = bytes; }

std::span<std::byte> FrameReader::prepare() {
    const std::size_t held = end_ - begin_;
    if (held == 0 || begin_ > buffer_.size() / 2) {
        if (held != 0) std::memmove(buffer_.data(), buffer_.data() + begin_, held);
        begin_ = 0;
        end_ = held;
    }
    // The held bytes are one frame's beginning (the caller has drained `next`): make room for its
    // end.
    std::size_t wanted = held + 1;
    if (held >= length_bytes) {
        const std::size_t frame = frame_length(buffer_.data() + begin_);
        if (frame <= frame_bytes_max_) wanted = std::max(wanted, frame);
    }
    if (buffer_.size() - begin_ < wanted) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, held);
        begin_ = 0;
        end_ = held;
        if (buffer_.size() < wanted) buffer_.resize(std::max(wanted, buffer_bytes));
    }
    return std::span(buffer_).subspan(end_);
}

void FrameReader::commit(std::size_t bytes) { end_ += std::min(bytes, buffer_.size() - end_); }

tl::expected<std::optional<Frame>, std::string> FrameReader::next() {
    if (!broken_.empty()) return tl::unexpected(broken_);
    const std::size_t held = end_ - begin_;
    if (held < length_bytes) return std::nullopt;

    const std::size_t length = frame_length(buffer_.data() + begin_);
    if (length < frame_head_bytes) {
        broken_ = "frame of " + std::to_string(length) + " bytes is shorter than a head";
    } else if (is_tls(buffer_.data() + begin_)) {
        broken_ = std::string(speaks_tls) + "; all members need the same --security";
    } else if (length > frame_bytes_max_) {
        broken_ = "frame of " + std::to_string(length) + " bytes is above the cap of " +
                  std::to_string(frame_bytes_max_);
    }
    if (!broken_.empty()) return tl::unexpected(broken_);
    if (held < length) return std::nullopt;

    auto frame = decode(std::span(buffer_).subspan(begin_, length), version_);
    begin_ += length;
    if (!frame) {
        broken_ = std::move(frame.error());
        return tl::unexpected(broken_);
    }
    return std::optional<Frame>(std::move(*frame));
}

}  // namespace bullring
