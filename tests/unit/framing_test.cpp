// Cutting a stream of bytes into frames.
#include "src/wire/framing.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/message_generators.hpp"

namespace bullring::framing_test {
namespace {

using Bytes = std::vector<std::byte>;
constexpr Sender sender{{3}, {42}};

/// Hands `bytes` to the reader as a socket would, `chunk` at a time, and takes out what is whole.
/// Returns the error that ended it, or nothing.
std::string feed(FrameReader& reader, std::span<const std::byte> bytes, std::size_t chunk,
                 std::vector<protocol::Message>& out) {
    while (!bytes.empty()) {
        const std::span<std::byte> room = reader.prepare();
        REQUIRE(!room.empty());
        const std::size_t count = std::min({room.size(), chunk, bytes.size()});
        std::memcpy(room.data(), bytes.data(), count);
        reader.commit(count);
        bytes = bytes.subspan(count);
        for (;;) {
            auto frame = reader.next();
            if (!frame) return frame.error();
            if (!*frame) break;
            REQUIRE((**frame).sender == sender);
            out.push_back(std::get<protocol::Message>((**frame).message));
        }
    }
    return {};
}

Bytes stream_of(const std::vector<protocol::Message>& messages) {
    Bytes out;
    for (const protocol::Message& message : messages)
        encode(sender, message, protocol::version_highest, out);
    return out;
}

Bytes with_length(std::uint32_t length) {
    Bytes bytes(8);
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[i] = static_cast<std::byte>(length >> (8 * (3 - i)) & 0xFFU);
    }
    return bytes;
}

}  // namespace

TEST_CASE("framing: frames split at every byte come out whole and in order") {
    protocol::Token token;
    token.walk.owner = {2};
    token.walk.path = {1, 2};
    const std::vector<protocol::Message> messages = {protocol::Heartbeat{}, protocol::Ok{1}, token,
                                                     protocol::Grant{}};
    const Bytes stream = stream_of(messages);
    for (std::size_t split = 0; split <= stream.size(); ++split) {
        CAPTURE(split);
        FrameReader reader;
        std::vector<protocol::Message> got;
        const std::span<const std::byte> bytes(stream);
        CHECK(feed(reader, bytes.first(split), stream.size(), got).empty());
        CHECK(feed(reader, bytes.subspan(split), stream.size(), got).empty());
        CHECK(got == messages);
    }
    FrameReader reader;
    std::vector<protocol::Message> got;
    CHECK(feed(reader, stream, 1, got).empty());
    CHECK(got == messages);
}

TEST_CASE("framing: any messages in any chunks come out whole and in order") {
    CHECK(rc::check("chunks", [] {
        std::vector<protocol::Message> messages(*rc::gen::inRange<std::size_t>(0, 12));
        for (protocol::Message& message : messages) {
            message = test::draw_message(*rc::gen::inRange<std::size_t>(0, test::message_kinds));
        }
        FrameReader reader(frame_bytes_max);
        std::vector<protocol::Message> got;
        const auto chunk = *rc::gen::inRange<std::size_t>(1, 9000);
        RC_ASSERT(feed(reader, stream_of(messages), chunk, got).empty());
        RC_ASSERT(got == messages);
    }));
}

TEST_CASE("framing: a long frame is refused before the handshake and read after it") {
    const std::string json(40'000, 'j');
    Bytes stream;
    encode(sender, ObserverMessage{ObserverState{json}}, stream);
    const std::size_t frame_bytes = stream.size();
    encode(sender, protocol::Message{protocol::Ok{9}}, protocol::version_highest, stream);

    std::vector<protocol::Message> got;
    FrameReader first;
    CHECK(feed(first, stream, 100, got) == "frame of " + std::to_string(frame_bytes) +
                                               " bytes is above the cap of " +
                                               std::to_string(first_frame_bytes_max));

    FrameReader reader;
    reader.set_frame_bytes_max(frame_bytes_max);
    const std::span<const std::byte> bytes(stream);
    CHECK(feed(reader, bytes.first(frame_bytes - 1), 1000, got).empty());
    const std::span<std::byte> room = reader.prepare();
    REQUIRE(!room.empty());
    room[0] = stream[frame_bytes - 1];
    reader.commit(1);
    const auto frame = reader.next();
    REQUIRE(frame.has_value());
    REQUIRE(frame->has_value());
    CHECK(std::get<ObserverMessage>((**frame).message) == ObserverMessage{ObserverState{json}});
    CHECK(feed(reader, bytes.subspan(frame_bytes), 1000, got).empty());
    CHECK(got == std::vector<protocol::Message>{protocol::Ok{9}});
}

TEST_CASE("framing: a length above the cap is refused before the buffer grows for it") {
    for (const std::uint32_t length : {0xFFFF'FFFFU, 0x8000'0000U, 65'536U}) {
        CAPTURE(length);
        FrameReader reader;
        reader.set_frame_bytes_max(frame_bytes_max);
        std::vector<protocol::Message> got;
        const std::size_t room = reader.prepare().size();
        const std::string error = feed(reader, with_length(length), 4, got);
        CHECK(error == "frame of " + std::to_string(std::uint64_t{length} + 4) +
                           " bytes is above the cap of 65536");
        CHECK(reader.prepare().size() <= room);
    }
}

TEST_CASE("framing: a length that is too short for a head is refused") {
    for (const std::uint32_t length : {0U, 1U, 21U}) {
        CAPTURE(length);
        FrameReader reader;
        std::vector<protocol::Message> got;
        CHECK(feed(reader, with_length(length), 8, got) ==
              "frame of " + std::to_string(length + 4) + " bytes is shorter than a head");
    }
}

TEST_CASE("framing: a stream that was rubbish once stays so") {
    FrameReader reader;
    std::vector<protocol::Message> got;
    const std::string error = feed(reader, with_length(0), 8, got);
    REQUIRE(!error.empty());
    CHECK(feed(reader, stream_of({protocol::Ok{1}}), 100, got) == error);
    CHECK(got.empty());
}

TEST_CASE(
    "framing: nothing from a stream in which one bit of a frame is flipped comes out after it") {
    const Bytes first = stream_of({protocol::Ok{1}});
    const Bytes whole = stream_of({protocol::Ok{1}, protocol::Ok{2}, protocol::Ok{3}});
    for (std::size_t bit = 0; bit < 8 * first.size(); ++bit) {
        CAPTURE(bit);
        Bytes stream = whole;
        stream[first.size() + bit / 8] ^= std::byte{static_cast<std::uint8_t>(1U << bit % 8)};
        FrameReader reader;
        std::vector<protocol::Message> got;
        const bool refused = !feed(reader, stream, stream.size(), got).empty();
        // A length that has grown waits for bytes that do not come.
        CHECK((refused || reader.in_frame()));
        CHECK(got == std::vector<protocol::Message>{protocol::Ok{1}});
    }
}

TEST_CASE("framing: what stands before the rubbish is still delivered") {
    Bytes stream = stream_of({protocol::Ok{1}, protocol::Ok{2}});
    stream[stream.size() / 2 + 5] = std::byte{200};  // the second frame's version
    FrameReader reader;
    std::vector<protocol::Message> got;
    CHECK(feed(reader, stream, stream.size(), got) == "version 200 of a frame's head is not 4");
    CHECK(got == std::vector<protocol::Message>{protocol::Ok{1}});
}

}  // namespace bullring::framing_test
