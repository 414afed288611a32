// A digest of a node's state, so that state spaces can be searched and replays compared. Plain
// structs are taken apart by the compiler, so that no field of theirs can be forgotten; classes
// name theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace bullring::protocol {

class Digest {
public:
    std::uint64_t value() const { return value_; }

    template <class T>
    void add(const T& field) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            mix(static_cast<std::uint64_t>(field));
        } else if constexpr (requires { field.digest_fields(); }) {
            std::apply([this](const auto&... fields) { (this->add(fields), ...); },
                       field.digest_fields());
        } else {
            add_members(field);
        }
    }
    void add(const std::string& text) {
        mix(text.size());
        for (const char c : text) mix(static_cast<unsigned char>(c));
    }
    template <class T>
    void add(const std::vector<T>& items) {
        mix(items.size());
        for (const T& item : items) add(item);
    }
    template <class T>
    void add(const std::optional<T>& maybe) {
        mix(maybe.has_value() ? 1 : 0);
        if (maybe) add(*maybe);
    }
    template <class... Ts>
    void add(const std::variant<Ts...>& one) {
        mix(one.index());
        std::visit([this](const auto& held) { this->add(held); }, one);
    }

private:
    struct Anything {
        template <class T>
        operator T() const;  // NOLINT: only ever named, to count members
    };

    template <class T, class... Members>
    static constexpr std::size_t count_members() {
        if constexpr (requires { T{Members{}..., Anything{}}; })
            return count_members<T, Members..., Anything>();
        else
            return sizeof...(Members);
    }

    template <class T>
    void add_members(const T& v) {
        constexpr std::size_t count = count_members<T>();
        static_assert(std::is_aggregate_v<T> && count >= 1 && count <= 12);
        const auto all = [this](const auto&... members) { (this->add(members), ...); };
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
    }

    void mix(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x9E37'79B9'7F4A'7C15ULL;
        value_ ^= value_ >> 29U;
    }

    std::uint64_t value_ = 0x2545'F491'4F6C'DD1DULL;
};

}  // namespace bullring::protocol
