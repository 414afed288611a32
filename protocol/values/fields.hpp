// Takes values of the protocol apart into their fields, down to numbers, so that every digest of a
// state sees all of it. Plain structs are taken apart by the compiler, so that no field of theirs
// can be forgotten; classes name theirs in digest_fields(). Decides nothing about what a digest
// makes of the numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace bullring::protocol {

namespace fields {

struct Anything {
    template <class T>
    operator T() const;  // NOLINT: only ever named, to count members
};

template <class T, class... Members>
constexpr std::size_t count_members() {
    if constexpr (requires { T{Members{}..., Anything{}}; })
        return count_members<T, Members..., Anything>();
    else
        return sizeof...(Members);
}

// A structured binding needs as many names as the struct has members, so each count has its own.
// A struct with more members than this names them in digest_fields().
inline constexpr std::size_t members_taken_apart_max = 24;

// clang-format off
#define BULLRING_NAMES_1 m1
#define BULLRING_NAMES_2 BULLRING_NAMES_1, m2
#define BULLRING_NAMES_3 BULLRING_NAMES_2, m3
#define BULLRING_NAMES_4 BULLRING_NAMES_3, m4
#define BULLRING_NAMES_5 BULLRING_NAMES_4, m5
#define BULLRING_NAMES_6 BULLRING_NAMES_5, m6
#define BULLRING_NAMES_7 BULLRING_NAMES_6, m7
#define BULLRING_NAMES_8 BULLRING_NAMES_7, m8
#define BULLRING_NAMES_9 BULLRING_NAMES_8, m9
#define BULLRING_NAMES_10 BULLRING_NAMES_9, m10
#define BULLRING_NAMES_11 BULLRING_NAMES_10, m11
#define BULLRING_NAMES_12 BULLRING_NAMES_11, m12
#define BULLRING_NAMES_13 BULLRING_NAMES_12, m13
#define BULLRING_NAMES_14 BULLRING_NAMES_13, m14
#define BULLRING_NAMES_15 BULLRING_NAMES_14, m15
#define BULLRING_NAMES_16 BULLRING_NAMES_15, m16
#define BULLRING_NAMES_17 BULLRING_NAMES_16, m17
#define BULLRING_NAMES_18 BULLRING_NAMES_17, m18
#define BULLRING_NAMES_19 BULLRING_NAMES_18, m19
#define BULLRING_NAMES_20 BULLRING_NAMES_19, m20
#define BULLRING_NAMES_21 BULLRING_NAMES_20, m21
#define BULLRING_NAMES_22 BULLRING_NAMES_21, m22
#define BULLRING_NAMES_23 BULLRING_NAMES_22, m23
#define BULLRING_NAMES_24 BULLRING_NAMES_23, m24
#define BULLRING_TAKE_APART(n)                                \
    if constexpr (count == (n)) {                              \
        const auto& [BULLRING_NAMES_##n] = value;              \
        [&](const auto&... members) { (visit(members), ...); }(BULLRING_NAMES_##n); \
    }

template <class T, class Visit>
void visit_members(const T& value, Visit& visit) {
    constexpr std::size_t count = count_members<T>();
    static_assert(std::is_aggregate_v<T> && count >= 1 && count <= members_taken_apart_max);
    BULLRING_TAKE_APART(1)
    BULLRING_TAKE_APART(2)
    BULLRING_TAKE_APART(3)
    BULLRING_TAKE_APART(4)
    BULLRING_TAKE_APART(5)
    BULLRING_TAKE_APART(6)
    BULLRING_TAKE_APART(7)
    BULLRING_TAKE_APART(8)
    BULLRING_TAKE_APART(9)
    BULLRING_TAKE_APART(10)
    BULLRING_TAKE_APART(11)
    BULLRING_TAKE_APART(12)
    BULLRING_TAKE_APART(13)
    BULLRING_TAKE_APART(14)
    BULLRING_TAKE_APART(15)
    BULLRING_TAKE_APART(16)
    BULLRING_TAKE_APART(17)
    BULLRING_TAKE_APART(18)
    BULLRING_TAKE_APART(19)
    BULLRING_TAKE_APART(20)
    BULLRING_TAKE_APART(21)
    BULLRING_TAKE_APART(22)
    BULLRING_TAKE_APART(23)
    BULLRING_TAKE_APART(24)
}

#undef BULLRING_TAKE_APART
#undef BULLRING_NAMES_1
#undef BULLRING_NAMES_2
#undef BULLRING_NAMES_3
#undef BULLRING_NAMES_4
#undef BULLRING_NAMES_5
#undef BULLRING_NAMES_6
#undef BULLRING_NAMES_7
#undef BULLRING_NAMES_8
#undef BULLRING_NAMES_9
#undef BULLRING_NAMES_10
#undef BULLRING_NAMES_11
#undef BULLRING_NAMES_12
#undef BULLRING_NAMES_13
#undef BULLRING_NAMES_14
#undef BULLRING_NAMES_15
#undef BULLRING_NAMES_16
#undef BULLRING_NAMES_17
#undef BULLRING_NAMES_18
#undef BULLRING_NAMES_19
#undef BULLRING_NAMES_20
#undef BULLRING_NAMES_21
#undef BULLRING_NAMES_22
#undef BULLRING_NAMES_23
#undef BULLRING_NAMES_24
// clang-format on

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... Ts>
inline constexpr bool is_variant<std::variant<Ts...>> = true;

}  // namespace fields

/// Calls `visit` with each member of a struct or class, in their order.
template <class T, class Visit>
void for_each_field(const T& value, Visit visit) {
    if constexpr (requires { value.digest_fields(); }) {
        // Where the members can be counted, none may be left out.
        using Named = decltype(value.digest_fields());
        if constexpr (std::is_aggregate_v<T>)
            static_assert(std::tuple_size_v<Named> == fields::count_members<T>());
        std::apply([&visit](const auto&... members) { (visit(members), ...); },
                   value.digest_fields());
    } else {
        fields::visit_members(value, visit);
    }
}

/// Takes a value apart, depth first, into calls of `sink.word(std::uint64_t)`. The items of a
/// container come after its size, the value of a variant after its index. A type that the sink
/// wants to see whole it gets by a member function `take(const T&)`.
template <class T, class Sink>
void take_apart(const T& value, Sink& sink) {
    const auto each = [&sink](const auto& part) { take_apart(part, sink); };
    if constexpr (requires { sink.take(value); }) {
        sink.take(value);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        sink.word(static_cast<std::uint64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
        sink.word(value.size());
        for (const char c : value) sink.word(static_cast<unsigned char>(c));
    } else if constexpr (fields::is_vector<T>) {
        sink.word(value.size());
        for (const auto& item : value) each(item);
    } else if constexpr (fields::is_optional<T>) {
        sink.word(value.has_value() ? 1 : 0);
        if (value) each(*value);
    } else if constexpr (fields::is_variant<T>) {
        sink.word(value.index());
        std::visit(each, value);
    } else {
        for_each_field(value, each);
    }
}

}  // namespace bullring::protocol
