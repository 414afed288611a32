// The two ends of a message's body: a Writer that appends to the caller's vector and a Reader over
// the bytes of one frame, both of them cereal's PortableBinary archive over a stream buffer of our
// own.
//
// cereal trusts lengths, takes any byte for a bool and does not check its own endianness byte, so
// nothing but fixed-width integers goes through the archive. Everything else is built from them
// here, and what it may be is checked before anything grows. The Reader throws DecodeError (or what
// cereal throws); `decode` is the border at which that ends. Included by the codec's files only.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cereal/archives/portable_binary.hpp>

#include "protocol/values/messages.hpp"

namespace bullring::codec {

struct DecodeError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The first byte of every body, cereal's own: numbers are little-endian, whatever the host is.
inline constexpr std::uint8_t little_endian_mark = 1;
/// Ids and epochs end here, so that they survive JSON, TOML and an addition.
inline constexpr std::uint64_t number_max = INT64_MAX;
inline constexpr std::int32_t priority_max = 1000;

class VectorBuffer : public std::streambuf {
public:
    explicit VectorBuffer(std::vector<std::byte>& out) : out_(out) {}

protected:
    std::streamsize xsputn(const char* data, std::streamsize count) override {
        const auto bytes = std::as_bytes(std::span(data, static_cast<std::size_t>(count)));
        out_.insert(out_.end(), bytes.begin(), bytes.end());
        return count;
    }
    int_type overflow(int_type byte) override {
        if (!traits_type::eq_int_type(byte, traits_type::eof())) {
            out_.push_back(static_cast<std::byte>(traits_type::to_char_type(byte)));
        }
        return traits_type::not_eof(byte);
    }

private:
    std::vector<std::byte>& out_;
};

class SpanBuffer : public std::streambuf {
public:
    explicit SpanBuffer(std::span<const std::byte> bytes) {
        // A stream buffer's pointers are not const, but nothing is ever put back through them.
        auto* begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
        setg(begin, begin, begin + bytes.size());
    }
    std::size_t left() const { return static_cast<std::size_t>(egptr() - gptr()); }
};

/// Writes only what a Reader of that version accepts: texts are cut at their cap, durations kept
/// within their range.
class Writer {
public:
    Writer(std::vector<std::byte>& out, std::uint16_t version)
        : spoken_(version),
          version_(version),
          buffer_(out),
          stream_(&buffer_),
          archive_(stream_, cereal::PortableBinaryOutputArchive::Options::LittleEndian()) {}

    template <std::integral T>
    requires(!std::same_as<T, bool>) void operator()(T number) { archive_(number); }
    void operator()(protocol::NodeId id) { archive_(id.value); }
    void member(protocol::NodeId id) { archive_(id.value); }
    void operator()(protocol::Incarnation incarnation) { archive_(incarnation.value); }
    void operator()(protocol::Epoch epoch) { archive_(epoch.value); }
    void operator()(protocol::SessionId session) { archive_(session.value); }
    void operator()(protocol::ClusterId id) { archive_(id.value); }
    void operator()(protocol::DirectoryId id) { archive_(id.value); }
    void operator()(protocol::Priority priority) { archive_(priority.value); }
    void operator()(protocol::Duration duration) {
        archive_(std::clamp<std::int64_t>(duration.ns, 0, protocol::forever.ns));
    }
    void operator()(protocol::Instant instant) {
        archive_(instant.boottime_ns);
        archive_(instant.raw_ns);
    }
    void operator()(protocol::MemberSet set) { archive_(set.bits()); }

    template <class E>
    requires std::is_enum_v<E>
    void choice(E value, E /*last*/) { archive_(static_cast<std::uint8_t>(value)); }

    template <std::same_as<bool>... B>
    void flags(B... flag) {
        unsigned bits = 0;
        unsigned position = 0;
        ((bits |= static_cast<unsigned>(flag) << position++), ...);
        archive_(static_cast<std::uint8_t>(bits));
    }

    void text(std::string_view text, std::size_t bytes_max) {
        const std::string_view kept = text.substr(0, bytes_max);
        archive_(static_cast<std::uint16_t>(kept.size()));
        stream_.rdbuf()->sputn(kept.data(), static_cast<std::streamsize>(kept.size()));
    }

    template <class T, class Item>
    void list(const std::vector<T>& items, std::size_t count_max, Item&& item) {
        const std::size_t count = std::min(items.size(), count_max);
        archive_(static_cast<std::uint8_t>(count));
        for (std::size_t i = 0; i < count; ++i) item(items[i]);
    }

    template <class T, class Item>
    void optional(const std::optional<T>& part, Item&& item) {
        flags(part.has_value());
        if (part) item(*part);
    }

    template <class Fields>
    void since(std::uint16_t version, Fields&& fields) {
        if (version_ >= version) fields();
    }

    void written_in(std::uint16_t version) { version_ = std::min(version_, version); }

    template <class Fields>
    void behind(std::uint16_t version, Fields&& fields) {
        if (spoken_ >= version) fields();
    }
    template <class Fields>
    void at_end(Fields&& fields) {
        fields();
    }

    template <class Condition>
    void check(Condition&& /*holds*/, const char* /*what*/) {}

private:
    const std::uint16_t spoken_;  // by the writer, or the reader
    std::uint16_t version_;       // of the message
    VectorBuffer buffer_;
    std::ostream stream_;
    cereal::PortableBinaryOutputArchive archive_;
};

class Reader {
public:
    /// `body` is not empty and begins with the endianness byte, which the caller has checked.
    Reader(std::span<const std::byte> body, std::uint16_t version)
        : spoken_(version),
          version_(version),
          buffer_(body),
          stream_(&buffer_),
          archive_(stream_) {}

    std::size_t left() const { return buffer_.left(); }

    template <std::integral T>
    requires(!std::same_as<T, bool>) void operator()(T& number) { archive_(number); }
    void operator()(protocol::NodeId& id) { id.value = below_limit("node id"); }
    void member(protocol::NodeId& id) {
        (*this)(id);
        check([&] { return static_cast<bool>(id); }, "node id 0 where a member is required");
    }
    void operator()(protocol::Incarnation& incarnation) { archive_(incarnation.value); }
    void operator()(protocol::Epoch& epoch) { epoch.value = below_limit("epoch"); }
    void operator()(protocol::SessionId& session) { archive_(session.value); }
    void operator()(protocol::ClusterId& id) { archive_(id.value); }
    void operator()(protocol::DirectoryId& id) { archive_(id.value); }
    void operator()(protocol::Priority& priority) {
        archive_(priority.value);
        const bool in_range = priority.value >= -priority_max && priority.value <= priority_max;
        if (!in_range && !priority.is_never()) fail("priority", priority.value, "is out of range");
    }
    void operator()(protocol::Duration& duration) {
        archive_(duration.ns);
        if (duration.ns < 0 || duration > protocol::forever) {
            fail("duration", duration.ns, "is out of range");
        }
    }
    // Echoed opaquely, but later added to a lease: the bounds keep that addition defined.
    void operator()(protocol::Instant& instant) {
        for (std::int64_t* clock : {&instant.boottime_ns, &instant.raw_ns}) {
            archive_(*clock);
            if (*clock < protocol::long_ago.raw_ns || *clock > protocol::never.raw_ns) {
                fail("stamp", *clock, "is out of range");
            }
        }
    }
    void operator()(protocol::MemberSet& set) {
        std::uint64_t bits = 0;
        archive_(bits);
        set = protocol::MemberSet(bits);
    }

    /// An enumeration whose values run from 1 to `last`.
    template <class E>
    requires std::is_enum_v<E>
    void choice(E& value, E last) {
        std::uint8_t byte = 0;
        archive_(byte);
        if (byte < 1 || byte > static_cast<std::uint8_t>(last)) {
            fail("choice", byte, "is not known");
        }
        value = static_cast<E>(byte);
    }

    /// Up to eight booleans in one byte, the first in the lowest bit.
    template <std::same_as<bool>... B>
    void flags(B&... flag) {
        static_assert(sizeof...(B) <= 8);
        std::uint8_t byte = 0;
        archive_(byte);
        if ((byte >> (sizeof...(B) - 1)) > 1) fail("flag byte", byte, "has unknown bits");
        unsigned position = 0;
        ((flag = (byte >> position++ & 1) != 0), ...);
    }

    void text(std::string& text, std::size_t bytes_max) {
        std::uint16_t size = 0;
        archive_(size);
        if (size > bytes_max) fail("text length", size, "is above its cap");
        if (size > left()) fail("text length", size, "is more than the frame holds");
        text.resize(size);
        stream_.rdbuf()->sgetn(text.data(), size);
    }

    template <class T, class Item>
    void list(std::vector<T>& items, std::size_t count_max, Item&& item) {
        std::uint8_t count = 0;
        archive_(count);
        if (count > count_max) fail("list length", count, "is above its cap");
        if (count > left()) fail("list length", count, "is more than the frame holds");
        items.resize(count);
        for (T& element : items) item(element);
    }

    /// A part that may be left out: a flag, and the part if it is set.
    template <class T, class Item>
    void optional(std::optional<T>& part, Item&& item) {
        bool present = false;
        flags(present);
        if (present) item(part.emplace());
    }

    /// Fields that exist since that version; without them their defaults stay. A frame may also end
    /// before them: it was written before it was known which version is spoken (HELLO_ACK and the
    /// last word of a guard).
    template <class Fields>
    void since(std::uint16_t version, Fields&& fields) {
        if (version_ >= version && left() != 0) fields();
    }
    /// The message says itself in which version it is: what its sender knows besides is not of it.
    void written_in(std::uint16_t version) { version_ = std::min(version_, version); }
    /// Fields since that version, behind all that the message's own version has, whatever that is:
    /// who does not know them leaves them out.
    template <class Fields>
    void behind(std::uint16_t version, Fields&& fields) {
        if (spoken_ >= version && left() != 0) fields();
    }
    /// Fields of a message that has no version; who does not know them leaves them out.
    template <class Fields>
    void at_end(Fields&& fields) {
        if (left() != 0) fields();
    }

    template <class Condition>
    void check(Condition&& holds, const char* what) {
        if (!holds()) throw DecodeError(what);
    }

private:
    template <class Number>
    [[noreturn]] static void fail(const char* what, Number value, const char* why) {
        throw DecodeError(std::string(what) + ' ' + std::to_string(value) + ' ' + why);
    }
    std::uint64_t below_limit(const char* what) {
        std::uint64_t value = 0;
        archive_(value);
        if (value > number_max) fail(what, value, "is out of range");
        return value;
    }

    const std::uint16_t spoken_;  // by the writer, or the reader
    std::uint16_t version_;       // of the message
    SpanBuffer buffer_;
    std::istream stream_;
    cereal::PortableBinaryInputArchive archive_;
};

}  // namespace bullring::codec
