// The wire format: what is encoded comes back, and whatever else the bytes are, they are refused or
// are some valid message. Meant to run under ASan and UBSan too.
#include "src/wire/codec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "protocol/values/digest.hpp"
#include "src/wire/crc32c.hpp"
#include "tests/support/message_generators.hpp"

namespace bullring::codec_test {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kinds =
    test::message_kinds + test::observer_message_kinds + test::notice_message_kinds;
constexpr std::size_t body_at = frame_head_bytes;  // the endianness byte
constexpr Sender sender{{3}, {0xABCDEF}};

using AnyMessage = std::variant<protocol::Message, ObserverMessage, NoticeMessage>;

AnyMessage draw_any(std::size_t kind) {
    if (kind < test::message_kinds) return test::draw_message(kind);
    kind -= test::message_kinds;
    if (kind < test::observer_message_kinds) return test::draw_alternative<ObserverMessage>(kind);
    return test::draw_alternative<NoticeMessage>(kind - test::observer_message_kinds);
}

Bytes encoded_by(const Sender& by, const AnyMessage& message, std::uint16_t version) {
    Bytes out;
    std::visit(
        [&](const auto& m) {
            if constexpr (std::is_same_v<std::decay_t<decltype(m)>, protocol::Message>)
                encode(by, m, version, out);
            else
                encode(by, m, out);
        },
        message);
    return out;
}

Bytes encoded(const AnyMessage& message, std::uint16_t version = protocol::version_highest) {
    return encoded_by(sender, message, version);
}

/// A version's fields are all there: without them a frame is that of an earlier version.
Bytes encoded_as_first(const AnyMessage& message) {
    return encoded(message, protocol::version_lowest);
}

void put_word(Bytes& frame, std::size_t at, std::size_t word) {
    for (std::size_t i = 0; i < 4; ++i) {
        frame[at + i] = static_cast<std::byte>(word >> (8 * (3 - i)) & 0xFFU);
    }
}

constexpr std::size_t checksum_at = 6;

/// The length and the checksum as a sender would have written them: what is wrong then is what the
/// frame says.
void seal(Bytes& frame) {
    put_word(frame, 0, frame.size() - 4);
    if (frame.size() < checksum_at + 4) return;
    const std::span<const std::byte> bytes(frame);
    put_word(frame, checksum_at,
             crc32c(bytes.subspan(checksum_at + 4), crc32c(bytes.first(checksum_at))));
}

std::string error_of(const Bytes& frame) {
    const auto result = decode(frame);
    return result ? std::string() : result.error();
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

/// Of a message without a version: as long as those who do not know its last fields write it.
std::size_t size_before_at_end(const AnyMessage& message, std::size_t size) {
    const auto* const what = std::get_if<ObserverMessage>(&message);
    if (what == nullptr) return size;
    if (std::holds_alternative<ObserverChange>(*what))
        return size - sizeof(protocol::ClusterId) - sizeof(protocol::Duration);
    return std::holds_alternative<ChangeMembers>(*what) ? size - sizeof(protocol::ClusterId) : size;
}

/// Decoding ends with an error text, or with a message that goes over the wire unchanged, as the
/// beginning of what it was decoded from: a later version may have added the rest.
bool refused_or_valid(const Bytes& frame) {
    const auto result = decode(frame, protocol::version_lowest);
    if (!result) return !result.error().empty();
    Bytes again = encoded_by(result->sender, result->message, protocol::version_lowest);
    if (size_before_at_end(result->message, again.size()) > frame.size()) return false;
    again.resize(std::min(again.size(), frame.size()));
    return std::equal(again.begin() + frame_head_bytes, again.end(),
                      frame.begin() + frame_head_bytes);
}

void for_each_kind(const char* what, void (*property)(const AnyMessage&)) {
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        CAPTURE(kind);
        CHECK(rc::check(std::string(what) + ", kind " + std::to_string(kind),
                        [=] { property(draw_any(kind)); }));
    }
}

}  // namespace

TEST_CASE("codec: every message comes back as it was, with its sender") {
    for_each_kind("round trip", [](const AnyMessage& message) {
        const auto frame = decode(encoded(message));
        RC_ASSERT(frame.has_value());
        RC_ASSERT(frame->sender == sender);
        RC_ASSERT(frame->message == message);
    });
}

TEST_CASE("codec: a frame that ends early is refused, with and without a matching length") {
    for_each_kind("truncation", [](const AnyMessage& message) {
        const Bytes whole = encoded_as_first(message);
        // All the short prefixes, and a stride of the long ones.
        for (std::size_t size = 0; size < whole.size(); size += 1 + size / 64) {
            Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            RC_ASSERT(!decode(part, protocol::version_lowest).has_value());
            if (size < 4 || size == size_before_at_end(message, whole.size())) continue;
            seal(part);
            RC_ASSERT(!decode(part, protocol::version_lowest).has_value());
        }
    });
}

TEST_CASE("codec: every truncation of one message of each kind is refused") {
    const auto one = [](std::size_t kind) {
        return *rc::gen::exec([=] { return draw_any(kind); });
    };
    CHECK(rc::check("each kind once", [&] {
        const AnyMessage message = one(*rc::gen::inRange<std::size_t>(0, kinds));
        const Bytes whole = encoded_as_first(message);
        for (std::size_t size = 4; size < whole.size(); ++size) {
            Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            seal(part);
            const bool is_old = size == size_before_at_end(message, whole.size());
            RC_ASSERT(decode(part, protocol::version_lowest).has_value() == is_old);
        }
    }));
}

TEST_CASE("codec: a changed byte under a right checksum is refused or makes a valid message") {
    for_each_kind("one byte", [](const AnyMessage& message) {
        Bytes frame = encoded(message);
        const std::size_t stride = 1 + frame.size() / 64;
        const auto first = *rc::gen::inRange<std::size_t>(0, stride);
        const auto drawn = *rc::gen::arbitrary<std::uint8_t>();
        for (std::size_t at = first; at < frame.size(); at += stride) {
            const std::byte before = frame[at];
            for (const unsigned mask : {0x01U, 0x80U, 0xFFU, static_cast<unsigned>(drawn)}) {
                frame[at] ^= static_cast<std::byte>(mask);
                if (at >= 4) seal(frame);
                RC_ASSERT(refused_or_valid(frame));
                frame[at] = before;
            }
        }
    });
}

TEST_CASE("codec: bytes after the last field that is known are left out, in every version") {
    for_each_kind("trailing bytes", [](const AnyMessage& message) {
        const auto count = *rc::gen::inRange<std::size_t>(1, 20);
        for (const std::uint16_t version : {protocol::version_lowest, protocol::version_highest}) {
            Bytes frame = encoded(message, version);
            const auto alone = decode(frame, version);
            RC_ASSERT(alone.has_value());
            frame.resize(frame.size() + count, std::byte{0xA5});
            RC_ASSERT(!decode(frame, version).has_value());
            seal(frame);
            const auto longer = decode(frame, version);
            RC_ASSERT(longer.has_value());
            RC_ASSERT(longer->message == alone->message);
        }
    });
}

TEST_CASE("codec: a field of a later version is written and read from that version on") {
    protocol::HelloAck ack;
    ack.id = {1};
    ack.recall.epoch = {7};
    ack.version = 2;
    const Bytes second = encoded(protocol::Message{ack}, 2);
    const Bytes first = encoded(protocol::Message{ack}, 1);
    REQUIRE(second.size() == first.size() + 2);
    CHECK(std::equal(first.begin() + body_at, first.end(), second.begin() + body_at));
    const auto read = [](const Bytes& frame, std::uint16_t version) {
        const auto result = decode(frame, version).value();
        return std::get<protocol::HelloAck>(std::get<protocol::Message>(result.message));
    };
    CHECK(read(second, 2) == ack);
    // A reader of the first version leaves it out; one of the second does without it.
    protocol::HelloAck without = ack;
    without.version = 1;
    CHECK(read(second, 1) == without);
    CHECK(read(first, 1) == without);
    CHECK(read(first, 2) == without);
}

TEST_CASE(
    "codec: a HELLO says the cluster's id, directory and address behind what its version has") {
    protocol::Hello hello;
    hello.id = {1};
    hello.cluster_id = {0xC1};
    hello.directory = {0xD1};
    hello.listens = ":7100";
    const auto read = [](const Bytes& frame, std::uint16_t version) {
        const auto result = decode(frame, version).value();
        return std::get<protocol::Hello>(std::get<protocol::Message>(result.message));
    };
    for (const std::uint16_t lowest : {protocol::version_lowest, protocol::version_with_tags}) {
        hello.version_lowest = lowest;
        protocol::Hello without = hello;
        without.cluster_id = {};
        without.directory = {};
        without.listens.clear();
        protocol::Hello with_id = without;
        with_id.cluster_id = hello.cluster_id;
        const Bytes frame = encoded(protocol::Message{hello}, protocol::version_highest);
        CHECK(read(frame, protocol::version_highest) == hello);
        // Of one that speaks no ids, and to one.
        CHECK(read(encoded(protocol::Message{hello}, protocol::version_with_tags),
                   protocol::version_highest) == without);
        CHECK(read(frame, protocol::version_with_tags) == without);
        CHECK(read(frame, protocol::version_with_identity) == with_id);
    }
}

TEST_CASE("codec: a frame that ends within a field of a later version is refused") {
    protocol::HelloAck ack;
    ack.id = {1};
    ack.version = 2;
    Bytes frame = encoded(protocol::Message{ack}, 2);
    frame.pop_back();
    seal(frame);
    CHECK(!decode(frame, 2).has_value());
    CHECK(decode(frame, 1).has_value());
}

TEST_CASE("codec: garbage is refused or is a valid message") {
    CHECK(rc::check("garbage without a head", [] {
        const auto words = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
        Bytes frame;
        for (const std::uint8_t word : words) frame.push_back(static_cast<std::byte>(word));
        RC_ASSERT(refused_or_valid(frame));
    }));
    CHECK(rc::check("garbage behind a sound head, under a right checksum", [] {
        Bytes frame = encoded(draw_any(*rc::gen::inRange<std::size_t>(0, kinds)));
        const auto words = *rc::gen::arbitrary<std::vector<std::uint8_t>>();
        frame.resize(body_at + 1);  // the endianness byte stays
        for (const std::uint8_t word : words) frame.push_back(static_cast<std::byte>(word));
        seal(frame);
        RC_ASSERT(refused_or_valid(frame));
    }));
}

TEST_CASE("codec: a text or list longer than its cap is refused before anything grows for it") {
    Bytes state = encoded(ObserverMessage{ObserverState{"{}"}});
    state[body_at + 1] = state[body_at + 2] = std::byte{0xFF};
    seal(state);
    CHECK(contains(error_of(state), "text length 65535 is above its cap"));

    // Within the cap, but not within the frame.
    state[body_at + 1] = std::byte{0x00};
    state[body_at + 2] = std::byte{0x10};
    seal(state);
    CHECK(contains(error_of(state), "text length 4096 is more than the frame holds"));

    protocol::Hello hello;
    hello.id = {1};
    hello.members = {{1}, {2}};
    Bytes frame = encoded(protocol::Message{hello});
    const std::size_t count_at = body_at + 1 + 2 + 2 + 2;  // versions, empty cluster name
    REQUIRE(frame[count_at] == std::byte{2});
    frame[count_at] = std::byte{65};
    seal(frame);
    CHECK(contains(error_of(frame), "list length 65 is above its cap"));
}

TEST_CASE("codec: what is wrong with a head is named with its value") {
    const Bytes good = encoded(protocol::Message{protocol::Ok{7}});
    const auto changed = [&](std::size_t at, unsigned value) {
        Bytes frame = good;
        frame[at] = static_cast<std::byte>(value);
        if (at >= 4) seal(frame);
        return error_of(frame);
    };
    CHECK(changed(4, 99) == "message type 99 is not known");
    CHECK(changed(4, 0) == "message type 0 is not known");
    CHECK(changed(5, 3) == "version 3 of a frame's head is not 4");
    CHECK(changed(3, 1) == "length 1 does not match the frame's 35 bytes");
    CHECK(contains(changed(10, 0x80), "sender id 9223372036854775811 is out of range"));
    CHECK(contains(changed(body_at, 0x55), "endianness byte 85 is not 1"));
    CHECK(contains(changed(body_at, 0), "endianness byte 0 is not 1"));
}

TEST_CASE("codec: a frame in which any one bit is flipped is refused") {
    for_each_kind("one bit", [](const AnyMessage& message) {
        Bytes frame = encoded(message);
        const std::size_t bits = 8 * frame.size();
        // All of them, but of a long frame a stride: others are drawn in its next case.
        const std::size_t stride = bits <= 2048 ? 1 : 1 + bits / 128;
        const auto first = *rc::gen::inRange<std::size_t>(0, stride);
        for (std::size_t bit = first; bit < bits; bit += stride) {
            const std::byte mask{static_cast<std::uint8_t>(1U << bit % 8)};
            frame[bit / 8] ^= mask;
            RC_ASSERT(!decode(frame).has_value());
            frame[bit / 8] ^= mask;
        }
    });
}

TEST_CASE("codec: the checksum is the CRC-32C of RFC 3720") {
    const auto of = [](auto byte_at, std::size_t count) {
        Bytes bytes(count);
        for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(byte_at(i));
        return crc32c(bytes);
    };
    CHECK(of([](std::size_t) { return 0; }, 32) == 0x8A91'36AA);
    CHECK(of([](std::size_t) { return 0xFF; }, 32) == 0x62A8'AB43);
    CHECK(of([](std::size_t i) { return i; }, 32) == 0x46DD'794E);
    CHECK(of([](std::size_t i) { return 31 - i; }, 32) == 0x113F'DB5C);
    constexpr std::array<unsigned, 48> read_command = {
        0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0,     //
        0x14, 0,    0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18,  //
        0x28, 0,    0, 0, 0, 0, 0, 0, 2, 0, 0, 0,    0, 0, 0, 0,     //
    };
    CHECK(of([&](std::size_t i) { return read_command[i]; }, 48) == 0xD996'3A56);
}

TEST_CASE("codec: a frame with an earlier head is refused by its version, not by its checksum") {
    // A heartbeat's head as version 1 had it: length, type, version, four bytes that were 0.
    Bytes frame = encoded(protocol::Message{protocol::Heartbeat{}});
    frame[5] = std::byte{1};
    put_word(frame, checksum_at, 0);
    CHECK(error_of(frame) == "version 1 of a frame's head is not 4");
}

TEST_CASE("codec: the generators of these tests draw every member of every message") {
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        CAPTURE(kind);
        std::vector<std::set<std::uint64_t>> values;
        CHECK(rc::check("members, kind " + std::to_string(kind), [&] {
            const AnyMessage message = draw_any(kind);
            std::visit(
                [&](const auto& variant) {
                    std::visit(
                        [&](const auto& one) {
                            if constexpr (!std::is_empty_v<std::decay_t<decltype(one)>>) {
                                std::size_t place = 0;
                                protocol::for_each_field(one, [&](const auto& member) {
                                    protocol::Digest digest;
                                    digest.add(member);
                                    if (values.size() <= place) values.emplace_back();
                                    values[place++].insert(digest.value());
                                });
                            }
                        },
                        variant);
                },
                message);
        }));
        for (const auto& seen : values) CHECK(seen.size() >= 2);
    }
}

TEST_CASE("codec: only an observer may come without an id") {
    Bytes frame;
    encode(Sender{}, ObserverMessage{Observe{"blue", ObserveWhat::watch, {}}}, frame);
    CHECK(decode(frame).has_value());
    frame.clear();
    encode(Sender{}, protocol::Message{protocol::Ok{1}}, protocol::version_highest, frame);
    CHECK(error_of(frame) == "message type 6 from sender id 0");
}

TEST_CASE("codec: booleans, choices, priorities and durations outside their range are refused") {
    const auto with = [](const AnyMessage& message, std::size_t at, unsigned value) {
        Bytes frame = encoded(message);
        frame[at] = static_cast<std::byte>(value);
        seal(frame);
        return error_of(frame);
    };
    const std::size_t first = body_at + 1;
    CHECK(
        contains(with(ObserverMessage{ResignResult{}}, first, 4), "flag byte 4 has unknown bits"));
    CHECK(contains(with(protocol::Message{protocol::Heartbeat{}}, first, 32),
                   "flag byte 32 has unknown bits"));
    const AnyMessage observe = ObserverMessage{Observe{}};
    CHECK(contains(with(observe, first + 2, 0), "choice 0 is not known"));
    CHECK(contains(with(observe, first + 2, 4), "choice 4 is not known"));

    protocol::HelloAck ack;
    ack.id = {1};
    ack.priority = {1000};
    const std::size_t priority_at = first + 16;
    CHECK(
        contains(with(protocol::Message{ack}, priority_at, 0xE9), "priority 1001 is out of range"));
    CHECK(contains(with(protocol::Message{ack}, priority_at + 4 + 7, 0x80), "duration -"));
    CHECK(contains(with(protocol::Message{ack}, first + 7, 0x80), "node id 9223372036854775809"));
    CHECK(contains(with(protocol::Message{ack}, first, 0), "node id 0"));
}

TEST_CASE("codec: a list of members that nobody can have is refused") {
    protocol::Coordinator request;
    request.members = protocol::Membership({{7}, 1}, {{{5}, 2, true, "h:1"}}, {{3}, {4}});
    const auto with = [&](std::size_t from_end, unsigned value) {
        Bytes frame = encoded(protocol::Message{request});
        frame[frame.size() - from_end] = static_cast<std::byte>(value);
        seal(frame);
        return error_of(frame);
    };
    // From the end: whether it has an id, whether it is settled, the founders, how many they are,
    // the address, its length, the vote, the slot, the id.
    CHECK(contains(with(10, 3), "a list of members that nobody can have"));
    CHECK(contains(with(18, 0), "node id 0"));
    CHECK(contains(with(25, 0), "a list of members that nobody can have"));
    CHECK(contains(with(26, 64), "a list of members that nobody can have"));
    CHECK(contains(with(34, 0), "node id 0"));
    CHECK(contains(with(25, 2), "flag byte 2"));
}

TEST_CASE("codec: member ids that are not in ascending order are refused") {
    protocol::Hello hello;
    hello.id = {1};
    for (const auto& members : std::vector<std::vector<protocol::NodeId>>{{{2}, {1}}, {{1}, {1}}}) {
        hello.members = members;
        CHECK(contains(error_of(encoded(protocol::Message{hello})), "ascending"));
    }
    protocol::Coordinator request;
    request.members =
        protocol::Membership({{7}, 1}, {{{5}, 0, true, ""}, {{6}, 1, true, ""}}, {{5}});
    Bytes frame = encoded(protocol::Message{request});
    // From the end: whether it is settled, the founder, how many they are; the last member's
    // address, vote, slot, id; the first one's address, vote, slot and id.
    frame[frame.size() - 34] = std::byte{7};
    seal(frame);
    CHECK(contains(error_of(frame), "ascending"));
}

TEST_CASE("codec: a writer never sends what a reader refuses") {
    protocol::LeaderIs leader;
    leader.remaining = {-5};
    const auto frame = decode(encoded(protocol::Message{leader})).value();
    leader.remaining = {0};
    CHECK(std::get<protocol::Message>(frame.message) == protocol::Message{leader});

    const protocol::Refused refused{"members", std::string(5000, 'm'), std::string(5000, 'y')};
    const Bytes bytes = encoded(protocol::Message{refused});
    CHECK(bytes.size() <= first_frame_bytes_max);
    const auto cut = decode(bytes).value();
    CHECK(std::get<protocol::Refused>(std::get<protocol::Message>(cut.message)).mine ==
          std::string(1536, 'm'));
}

TEST_CASE("codec: the fullest messages fit their frames") {
    protocol::Hello hello;
    hello.id = {INT64_MAX};
    for (std::uint64_t i = 1; i <= protocol::members_max; ++i) hello.members.push_back({i});
    hello.cluster.assign(protocol::cluster_name_bytes_max, 'c');
    hello.advertised.assign(protocol::advertised_bytes_max, 'a');
    hello.addresses.local.assign(protocol::address_bytes_max, 'l');
    hello.addresses.remote.assign(protocol::address_bytes_max, 'r');
    std::vector<protocol::MemberEntry> entries;
    for (const protocol::NodeId id : hello.members)
        entries.push_back({id, static_cast<protocol::Index>(entries.size()), true,
                           std::string(protocol::member_address_bytes_max, 'h')});
    hello.changed = protocol::Membership({{INT64_MAX}, UINT32_MAX}, entries, hello.members);
    const Bytes first = encoded(protocol::Message{hello});
    CHECK(first.size() <= first_frame_bytes_max);
    CHECK(decode(first).has_value());
    const protocol::Refused refused{"member", std::string(1536, 'm'), std::string(1536, 'y'),
                                    hello.changed};
    CHECK(encoded(protocol::Message{refused}).size() <= first_frame_bytes_max);

    protocol::CoordinatorToken token;
    token.request.members = hello.changed;
    token.walk.owner = {1};
    token.walk.path.resize(protocol::members_max);
    token.grants.resize(protocol::members_max, {{1}, {2}, {3}});
    token.nacks.resize(protocol::members_max, {{1}, protocol::NackReason::stale, {2}, {3}, {4}});
    const Bytes full = encoded(protocol::Message{token});
    CHECK(full.size() <= frame_bytes_max);
    CHECK(decode(full).has_value());

    const Bytes state = encoded(ObserverMessage{ObserverState{std::string(100'000, 'j')}});
    CHECK(state.size() <= frame_bytes_max);
    CHECK(decode(state).has_value());
}

TEST_CASE("codec: encoding appends, and a vector with room for the frame is not moved") {
    Bytes out{std::byte{1}, std::byte{2}};
    out.reserve(1024);
    const std::byte* const place = out.data();
    const protocol::Message messages[] = {protocol::Heartbeat{}, protocol::Coordinator{},
                                          protocol::Grant{}};
    std::size_t begin = out.size();
    for (const protocol::Message& message : messages) {
        encode(sender, message, protocol::version_highest, out);
        const auto frame = decode(std::span(out).subspan(begin)).value();
        CHECK(std::get<protocol::Message>(frame.message) == message);
        begin = out.size();
    }
    CHECK(out.data() == place);
    CHECK(out[0] == std::byte{1});
    CHECK(out[1] == std::byte{2});
}

TEST_CASE("codec: the bytes of a heartbeat are what every version says") {
    protocol::Heartbeat heartbeat;
    heartbeat.heard = protocol::MemberSet(0b101);
    heartbeat.quorum_connected = true;
    heartbeat.leader_announced = true;
    heartbeat.leader = {3};
    heartbeat.leader_epoch = {0x0102};
    heartbeat.leader_remaining = {5};
    heartbeat.max_seen = {0x0103};
    heartbeat.quorum_age = {7};
    Bytes frame;
    encode(sender, protocol::Message{heartbeat}, protocol::version_lowest, frame);
    constexpr std::array<unsigned, 76> expected = {
        0,    0,    0,    72,   4, 4,                       // length, HB, version
        0xCD, 0xAE, 0xE8, 0xC5,                             // checksum
        0,    0,    0,    0,    0, 0,    0,    3,           // sender
        0,    0,    0,    0,    0, 0xAB, 0xCD, 0xEF,        // its incarnation
        1,    0x09, 0x05, 0,    0, 0,    0,    0,    0, 0,  // little-endian, flags, heard
        3,    0,    0,    0,    0, 0,    0,    0,           // leader
        2,    1,    0,    0,    0, 0,    0,    0,           // its epoch
        5,    0,    0,    0,    0, 0,    0,    0,           // remaining
        3,    1,    0,    0,    0, 0,    0,    0,           // max_seen
        7,    0,    0,    0,    0, 0,    0,    0,           // quorum_age
    };
    REQUIRE(frame.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        CHECK(std::to_integer<unsigned>(frame[i]) == expected[i]);
    }
    // Since version 6 its work, and a text, which is empty.
    const Bytes newest = encoded(protocol::Message{heartbeat});
    REQUIRE(newest.size() == expected.size() + 3);
    CHECK(std::equal(newest.end() - 3, newest.end(),
                     std::array{std::byte{1}, std::byte{0}, std::byte{0}}.begin()));
}

}  // namespace bullring::codec_test
