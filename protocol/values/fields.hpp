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

template <class T, class Visit>
void visit_members(const T& value, Visit& visit) {
    constexpr std::size_t count = count_members<T>();
    static_assert(std::is_aggregate_v<T> && count >= 1 && count <= members_taken_apart_max);
    const auto each = [&](const auto&... members) { (visit(members), ...); };
    // clang-format off
#define BULLRING_TAKE_APART(n, ...)           \
    if constexpr (count == (n)) {             \
        const auto& [__VA_ARGS__] = value;    \
        each(__VA_ARGS__);                    \
    }
    BULLRING_TAKE_APART(1, a)
    BULLRING_TAKE_APART(2, a, b)
    BULLRING_TAKE_APART(3, a, b, c)
    BULLRING_TAKE_APART(4, a, b, c, d)
    BULLRING_TAKE_APART(5, a, b, c, d, e)
    BULLRING_TAKE_APART(6, a, b, c, d, e, f)
    BULLRING_TAKE_APART(7, a, b, c, d, e, f, g)
    BULLRING_TAKE_APART(8, a, b, c, d, e, f, g, h)
    BULLRING_TAKE_APART(9, a, b, c, d, e, f, g, h, i)
    BULLRING_TAKE_APART(10, a, b, c, d, e, f, g, h, i, j)
    BULLRING_TAKE_APART(11, a, b, c, d, e, f, g, h, i, j, k)
    BULLRING_TAKE_APART(12, a, b, c, d, e, f, g, h, i, j, k, l)
    BULLRING_TAKE_APART(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    BULLRING_TAKE_APART(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    BULLRING_TAKE_APART(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    BULLRING_TAKE_APART(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    BULLRING_TAKE_APART(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    BULLRING_TAKE_APART(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    BULLRING_TAKE_APART(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    BULLRING_TAKE_APART(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    BULLRING_TAKE_APART(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    BULLRING_TAKE_APART(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    BULLRING_TAKE_APART(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    BULLRING_TAKE_APART(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
#undef BULLRING_TAKE_APART
    // clang-format on
}

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
