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

template <class T, class Visit>
void visit_members(const T& v, Visit& visit) {
    constexpr std::size_t count = count_members<T>();
    static_assert(std::is_aggregate_v<T> && count >= 1 && count <= 17);
    const auto all = [&visit](const auto&... members) { (visit(members), ...); };
    if constexpr (count == 1) {
        const auto& [a] = v;
        all(a);
    }
    if constexpr (count == 2) {
        const auto& [a, b] = v;
        all(a, b);
    }
    if constexpr (count == 3) {
        const auto& [a, b, c] = v;
        all(a, b, c);
    }
    if constexpr (count == 4) {
        const auto& [a, b, c, d] = v;
        all(a, b, c, d);
    }
    if constexpr (count == 5) {
        const auto& [a, b, c, d, e] = v;
        all(a, b, c, d, e);
    }
    if constexpr (count == 6) {
        const auto& [a, b, c, d, e, f] = v;
        all(a, b, c, d, e, f);
    }
    if constexpr (count == 7) {
        const auto& [a, b, c, d, e, f, g] = v;
        all(a, b, c, d, e, f, g);
    }
    if constexpr (count == 8) {
        const auto& [a, b, c, d, e, f, g, h] = v;
        all(a, b, c, d, e, f, g, h);
    }
    if constexpr (count == 9) {
        const auto& [a, b, c, d, e, f, g, h, i] = v;
        all(a, b, c, d, e, f, g, h, i);
    }
    if constexpr (count == 10) {
        const auto& [a, b, c, d, e, f, g, h, i, j] = v;
        all(a, b, c, d, e, f, g, h, i, j);
    }
    if constexpr (count == 11) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k] = v;
        all(a, b, c, d, e, f, g, h, i, j, k);
    }
    if constexpr (count == 12) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = v;
        all(a, b, c, d, e, f, g, h, i, j, k, l);
    }
    if constexpr (count == 13) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = v;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m);
    }
    if constexpr (count == 14) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = v;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
    }
    if constexpr (count == 15) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = v;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
    }
    if constexpr (count == 16) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = v;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    }
    if constexpr (count == 17) {
        const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = v;
        all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    }
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
    if constexpr (requires { value.digest_fields(); })
        std::apply([&visit](const auto&... members) { (visit(members), ...); },
                   value.digest_fields());
    else
        fields::visit_members(value, visit);
}

/// Takes a value apart, depth first, into calls of `sink.word(std::uint64_t)`. What a container
/// holds comes after its size, what a variant holds after its index. A type that the sink wants to
/// see whole it gets by a member function `take(const T&)`.
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
