// rapidcheck generators of everything that can stand in a frame, by the codec's own lists of
// fields. Values are within the ranges that the wire format allows, their extremes included.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <rapidcheck.h>

#include "protocol/values/messages.hpp"
#include "protocol/values/rng.hpp"
#include "src/wire/codec_fields.hpp"

namespace bullring::test {

// The functions below draw from rapidcheck's source and may be called only inside gen::exec or a
// property.

template <class T>
T draw(T lowest, T highest) {
    if (lowest == highest || *rc::gen::inRange(0, 8) == 0) {
        return *rc::gen::element(lowest, highest);
    }
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(lowest, highest));
}

inline std::uint64_t draw_word() { return *rc::gen::arbitrary<std::uint64_t>(); }
inline bool draw_bool() { return *rc::gen::arbitrary<bool>(); }
inline std::uint64_t draw_number(std::uint64_t lowest = 0) {
    return draw<std::uint64_t>(lowest, INT64_MAX);
}

inline std::string draw_text(std::size_t bytes_max) {
    // Filled from one drawn word: a draw for each byte is slow and shrinks to nothing better.
    std::string text(draw<std::size_t>(0, bytes_max), '\0');
    protocol::Rng rng(draw_word());
    for (char& byte : text) byte = static_cast<char>(rng.next());
    return text;
}

}  // namespace bullring::test

namespace bullring::codec {

using test::draw;
using test::draw_bool;
using test::draw_number;
using test::draw_text;
using test::draw_word;

class Drawer;

/// A list that is possible: the ids and the slots are all different, and the first member votes.
void members(Drawer& drawer, protocol::Membership& m);

/// One more Coder of codec_fields.hpp, beside Writer and Reader: fills a message's fields with what
/// can be written and read.
class Drawer {
public:
    template <std::integral T>
    void operator()(T& number) {
        number = *rc::gen::arbitrary<T>();
    }
    /// The second of two is the end of a range.
    void operator()(std::uint16_t& version) {
        version = lowest_ = draw<std::uint16_t>(lowest_, UINT16_MAX);
    }
    void operator()(protocol::Index& place) {
        place = draw<protocol::Index>(0, protocol::members_max - 1);
    }
    void operator()(protocol::NodeId& id) { id = {draw_number()}; }
    void member(protocol::NodeId& id) { id = {draw_number(1)}; }
    void operator()(protocol::Epoch& epoch) { epoch = {draw_number()}; }
    void operator()(protocol::Incarnation& incarnation) { incarnation = {draw_word()}; }
    void operator()(protocol::SessionId& session) { session = {draw_word()}; }
    void operator()(protocol::ClusterId& id) { id = {draw_word()}; }
    void operator()(protocol::DirectoryId& id) { id = {draw_word()}; }
    void operator()(protocol::MemberSet& set) { set = protocol::MemberSet(draw_word()); }
    void operator()(protocol::Priority& priority) {
        priority = *rc::gen::inRange(0, 4) == 0
                       ? protocol::Priority::never()
                       : protocol::Priority{draw<std::int32_t>(-1000, 1000)};
    }
    void operator()(protocol::Duration& duration) {
        duration = {draw<std::int64_t>(0, protocol::forever.ns)};
    }
    void operator()(protocol::Instant& instant) {
        for (std::int64_t* clock : {&instant.boottime_ns, &instant.raw_ns})
            *clock = draw<std::int64_t>(protocol::long_ago.raw_ns, protocol::never.raw_ns);
    }
    template <class E>
    void choice(E& value, E last) {
        value = static_cast<E>(draw<int>(1, static_cast<int>(last)));
    }
    template <std::same_as<bool>... B>
    void flags(B&... flag) {
        ((flag = draw_bool()), ...);
    }
    /// Of a length that a test of every bit can bear.
    void text(std::string& text, std::size_t bytes_max) {
        text = draw_text(std::min<std::size_t>(bytes_max, 4096));
    }
    template <class T, class Item>
    void list(std::vector<T>& items, std::size_t count_max, Item&& item) {
        items.resize(draw<std::size_t>(0, count_max));
        for (T& one : items) item(one);
        // The ids of members are in ascending order wherever they are listed.
        if constexpr (std::same_as<T, protocol::NodeId>) {
            std::sort(items.begin(), items.end());
            items.erase(std::unique(items.begin(), items.end()), items.end());
        }
    }
    template <class T, class Item>
    void optional(std::optional<T>& part, Item&& item) {
        if (draw_bool()) item(part.emplace());
    }
    void written_in(std::uint16_t version) { version_ = std::min(version_, version); }
    template <class Fields>
    void since(std::uint16_t version, Fields&& fields) {
        if (version_ >= version) fields();
    }
    template <class Fields>
    void behind(std::uint16_t /*version*/, Fields&& fields) {
        fields();
    }
    template <class Fields>
    void at_end(Fields&& fields) {
        fields();
    }
    template <class Condition>
    void check(Condition&& holds, const char* what) {
        if (!holds()) throw std::logic_error(what);
    }

private:
    std::uint16_t version_ = protocol::version_highest;
    std::uint16_t lowest_ = 0;
};

template <class M>
M drawn() {
    M m{};
    Drawer drawer;
    whole(drawer, m);
    return m;
}

inline void members(Drawer& /*c*/, protocol::Membership& m) {
    std::vector<protocol::MemberEntry> entries;
    const auto count = draw<std::uint64_t>(1, 8);
    const auto first_slot = draw<protocol::Index>(0, protocol::members_max - 1);
    for (std::uint64_t i = 0; i < count; ++i)
        entries.push_back({{(i << 32U) + draw<std::uint64_t>(1, UINT32_MAX)},
                           static_cast<protocol::Index>((first_slot + i) % protocol::members_max),
                           i == 0 || draw_bool(),
                           draw_text(protocol::member_address_bytes_max)});
    auto tag = drawn<protocol::Tag>();
    std::vector<protocol::NodeId> founders = protocol::ids_of(entries);
    if (tag != protocol::Tag{}) founders.resize(draw<std::size_t>(1, founders.size()));
    m = protocol::Membership(tag, entries, founders);
}

}  // namespace bullring::codec

namespace bullring::test {

/// A message of the variant's alternative `kind`.
template <class Variant, std::size_t at = 0>
Variant draw_alternative(std::size_t kind) {
    if constexpr (at + 1 < std::variant_size_v<Variant>)
        if (kind != at) return draw_alternative<Variant, at + 1>(kind);
    return codec::drawn<std::variant_alternative_t<at, Variant>>();
}

inline constexpr std::size_t message_kinds = std::variant_size_v<protocol::Message>;
inline constexpr std::size_t notice_message_kinds = std::variant_size_v<NoticeMessage>;
inline constexpr std::size_t observer_message_kinds = std::variant_size_v<ObserverMessage>;

inline protocol::Message draw_message(std::size_t kind) {
    return draw_alternative<protocol::Message>(kind);
}

}  // namespace bullring::test
