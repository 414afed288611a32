#include "src/wire/codec.hpp"

#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "src/wire/codec_archive.hpp"
#include "src/wire/codec_fields.hpp"
#include "src/wire/crc32c.hpp"

namespace bullring {
namespace {

using codec::DecodeError;
using codec::Type;

template <std::unsigned_integral T>
void put_big_endian(T value, std::byte* at) {
    for (std::size_t i = sizeof(T); i-- > 0; value = static_cast<T>(value >> 7U >> 1U)) {
        at[i] = static_cast<std::byte>(value & 0xFFU);
    }
}

template <std::unsigned_integral T>
T get_big_endian(const std::byte* at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value = value << 8U | std::to_integer<T>(at[i]);
    return static_cast<T>(value);
}

// The head's places, in bytes from the start of the frame.
constexpr std::size_t type_at = 4;
constexpr std::size_t version_at = 5;
constexpr std::size_t checksum_at = 6;
constexpr std::size_t id_at = 10;
constexpr std::size_t incarnation_at = 18;

constexpr std::uint32_t length_after(std::size_t frame_bytes) {
    return static_cast<std::uint32_t>(frame_bytes - sizeof(std::uint32_t));
}

/// Of everything but the checksum itself. The TCP sum is weak, and the types of messages differ in
/// single bits.
std::uint32_t checksum_of(std::span<const std::byte> frame) {
    return crc32c(frame.subspan(id_at), crc32c(frame.first(checksum_at)));
}

template <class M>
void encode_as(const Sender& sender, const M& message, std::uint16_t version,
               std::vector<std::byte>& out) {
    const std::size_t start = out.size();
    out.resize(start + frame_head_bytes);
    {
        codec::Writer writer(out, version);
        codec::whole(writer, message);
    }
    // Only now: the body may have moved the vector, and its length is known.
    std::byte* head = out.data() + start;
    put_big_endian<std::uint32_t>(length_after(out.size() - start), head);
    head[type_at] = static_cast<std::byte>(codec::Entry<M>::type);
    head[version_at] = static_cast<std::byte>(codec::head_version);
    put_big_endian<std::uint64_t>(sender.id.value, head + id_at);
    put_big_endian<std::uint64_t>(sender.incarnation.value, head + incarnation_at);
    put_big_endian<std::uint32_t>(checksum_of(std::span(out).subspan(start)), head + checksum_at);
}

using Body = std::span<const std::byte>;

template <class Variant, class M>
void decode_as(Body body, std::uint16_t version, Frame& frame) {
    if (body.empty()) throw DecodeError("has no body");
    const auto mark = std::to_integer<std::uint8_t>(body.front());
    if (mark != codec::little_endian_mark) {
        throw DecodeError("endianness byte " + std::to_string(mark) + " is not 1");
    }
    codec::Reader reader(body, version);
    M message;
    codec::whole(reader, message);
    frame.message.emplace<Variant>(std::move(message));
}

// One row for each member of both variants, so that a message can't be forgotten.
using Decoder = void (*)(Body, std::uint16_t version, Frame&);

template <class Variant>
struct DecoderOf;
template <class... M>
struct DecoderOf<std::variant<M...>> {
    static Decoder find(Type type) {
        Decoder found = nullptr;
        ((type == codec::Entry<M>::type ? void(found = &decode_as<std::variant<M...>, M>) : void()),
         ...);
        return found;
    }
};

/// The fault of the head, or nothing.
std::optional<std::string> head_problem(std::span<const std::byte> frame) {
    if (frame.size() < frame_head_bytes) {
        return "frame of " + std::to_string(frame.size()) + " bytes is shorter than a head";
    }
    if (frame.size() > frame_bytes_max) {
        return "frame of " + std::to_string(frame.size()) + " bytes is above the cap";
    }
    const auto length = get_big_endian<std::uint32_t>(frame.data());
    if (length != length_after(frame.size())) {
        return "length " + std::to_string(length) + " does not match the frame's " +
               std::to_string(frame.size()) + " bytes";
    }
    const auto version = std::to_integer<std::uint8_t>(frame[version_at]);
    if (version != codec::head_version) {
        return "version " + std::to_string(version) + " of a frame's head is not " +
               std::to_string(codec::head_version);
    }
    // Only now: another version may have another head.
    if (get_big_endian<std::uint32_t>(frame.data() + checksum_at) != checksum_of(frame)) {
        return "the checksum of a frame of " + std::to_string(frame.size()) + " bytes is wrong";
    }
    return std::nullopt;
}

}  // namespace

void encode(const Sender& sender, const protocol::Message& message, std::uint16_t version,
            std::vector<std::byte>& out) {
    std::visit([&](const auto& m) { encode_as(sender, m, version, out); }, message);
}

void encode(const Sender& sender, const ObserverMessage& message, std::vector<std::byte>& out) {
    std::visit([&](const auto& m) { encode_as(sender, m, protocol::version_lowest, out); },
               message);
}

void encode(const Sender& sender, const NoticeMessage& message, std::vector<std::byte>& out) {
    std::visit([&](const auto& m) { encode_as(sender, m, protocol::version_lowest, out); },
               message);
}

bool looks_like_mourn(std::span<const std::byte> beginning) {
    return beginning.size() > type_at && beginning[0] == std::byte{0} &&
           beginning[type_at] == static_cast<std::byte>(Type::mourn);
}

tl::expected<Frame, std::string> decode(std::span<const std::byte> frame, std::uint16_t version) {
    if (auto problem = head_problem(frame)) return tl::unexpected(std::move(*problem));

    const auto number = std::to_integer<std::uint8_t>(frame[type_at]);
    Frame result;
    result.sender.id = {get_big_endian<std::uint64_t>(frame.data() + id_at)};
    result.sender.incarnation = {get_big_endian<std::uint64_t>(frame.data() + incarnation_at)};
    if (result.sender.id.value > codec::number_max) {
        return tl::unexpected("sender id " + std::to_string(result.sender.id.value) +
                              " is out of range");
    }

    Decoder for_members = DecoderOf<protocol::Message>::find(static_cast<Type>(number));
    if (for_members == nullptr)
        for_members = DecoderOf<NoticeMessage>::find(static_cast<Type>(number));
    if (for_members != nullptr && !result.sender.id) {
        return tl::unexpected("message type " + std::to_string(number) + " from sender id 0");
    }
    const Decoder decoder = for_members != nullptr
                                ? for_members
                                : DecoderOf<ObserverMessage>::find(static_cast<Type>(number));
    if (decoder == nullptr) {
        return tl::unexpected("message type " + std::to_string(number) + " is not known");
    }
    try {
        decoder(frame.subspan(frame_head_bytes), version, result);
    } catch (const std::exception& error) {
        return tl::unexpected("message type " + std::to_string(number) + ": " + error.what());
    }
    return result;
}

}  // namespace bullring
