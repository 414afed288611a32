// Frames that are what their head says: without this a fuzzer would have to guess a checksum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "src/wire/codec.hpp"
#include "src/wire/crc32c.hpp"

namespace bullring::fuzz {

inline void put_big_endian(std::uint32_t value, std::byte* at) {
    for (std::size_t i = 4; i-- > 0; value >>= 8U) at[i] = static_cast<std::byte>(value & 0xFFU);
}

inline std::size_t frame_size(std::span<const std::byte> stream) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
        length = length << 8U | std::to_integer<std::size_t>(stream[i]);
    return length + 4;
}

inline constexpr std::size_t version_at = 5;

/// Of the wire format: so the inputs in the tree outlive a change of it.
inline std::byte version_now() {
    static const std::byte version = [] {
        std::vector<std::byte> frame;
        encode({{1}, {1}}, NoticeMessage(Mourn{}), frame);
        return frame[version_at];
    }();
    return version;
}

/// Writes the right length, version and checksum into a frame that is not shorter than a head.
inline void seal(std::span<std::byte> frame) {
    constexpr std::size_t checksum_at = version_at + 1;
    constexpr std::size_t behind_checksum = checksum_at + 4;
    put_big_endian(static_cast<std::uint32_t>(frame.size() - 4), frame.data());
    frame[version_at] = version_now();
    const std::uint32_t sum =
        crc32c(frame.subspan(behind_checksum), crc32c(frame.first(checksum_at)));
    put_big_endian(sum, frame.data() + checksum_at);
}

inline std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
}

/// As `version` writes it.
inline std::vector<std::byte> encoded(const Frame& frame, std::uint16_t version) {
    std::vector<std::byte> bytes;
    std::visit(
        [&](const auto& message) {
            if constexpr (std::is_same_v<std::decay_t<decltype(message)>, protocol::Message>)
                encode(frame.sender, message, version, bytes);
            else
                encode(frame.sender, message, bytes);
        },
        frame.message);
    return bytes;
}

/// Whether the body of one of the two is what the other's begins with: a frame may have bytes at
/// its end that are not known, or lack fields of a later version.
inline bool same_body_begins(std::span<const std::byte> a, std::span<const std::byte> b) {
    const std::size_t both = std::min(a.size(), b.size());
    return both >= frame_head_bytes &&
           std::equal(a.begin() + frame_head_bytes, a.begin() + static_cast<std::ptrdiff_t>(both),
                      b.begin() + frame_head_bytes);
}

}  // namespace bullring::fuzz
