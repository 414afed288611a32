// Messages to bytes and back. The only user of cereal, and the only place that knows the wire
// format. Whatever the bytes are, decoding ends with a message or with an error text: it never
// throws, never allocates more than the frame's own size allows, and never accepts a frame that
// ends within a field. What follows the last field that it knows, a later version has added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/messages.hpp"
#include "src/wire/notice_messages.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

/// Length of the fixed head: length u32 (of the bytes after it), type u8, version u8, checksum u32
/// (CRC-32C of all the other bytes of the frame), sender id u64, sender incarnation u64;
/// big-endian.
inline constexpr std::size_t frame_head_bytes = 4 + 1 + 1 + 4 + 8 + 8;
/// The largest frame, head included, before and after the handshake. Checked before any allocation.
/// A HELLO has room for members_max members with the longest names.
inline constexpr std::size_t first_frame_bytes_max = 24 * 1024;
inline constexpr std::size_t frame_bytes_max = 64 * 1024;

struct Sender {
    protocol::NodeId id;  // `nobody` for an observer
    protocol::Incarnation incarnation;
    bool operator==(const Sender&) const = default;
};

struct Frame {
    Sender sender;
    std::variant<protocol::Message, ObserverMessage, NoticeMessage> message;
};

/// Appends one frame to `out`. A message between members is written as `version` has it: that of
/// the session, and before it is known the lowest one; a HELLO, which says itself in which version
/// it is, with what the highest has behind that. The others have none.
void encode(const Sender& sender, const protocol::Message& message, std::uint16_t version,
            std::vector<std::byte>& out);
void encode(const Sender& sender, const ObserverMessage& message, std::vector<std::byte>& out);
void encode(const Sender& sender, const NoticeMessage& message, std::vector<std::byte>& out);

/// A MOURN is as long as that.
inline constexpr std::size_t mourn_frame_bytes = frame_head_bytes + 1;
/// Whether a connection that begins with these bytes may be meant for a MOURN.
bool looks_like_mourn(std::span<const std::byte> beginning);

/// Decodes exactly one whole frame, head included, of a session of this version; before it is known
/// the highest one does. The error names what is wrong with it.
tl::expected<Frame, std::string> decode(std::span<const std::byte> frame,
                                        std::uint16_t version = protocol::version_highest);

}  // namespace bullring
