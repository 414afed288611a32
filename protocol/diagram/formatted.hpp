// Texts with values in them, in the notation of std::format, which the compilers of today lack.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace bullring::protocol::diagram {

/// One value of a text, as text.
class Piece {
public:
    template <std::integral T>
    explicit Piece(T number) : own_(std::to_string(number)), text_(own_) {}
    explicit Piece(std::string_view text) : text_(text) {}
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

    std::string_view text() const { return text_; }

private:
    std::string own_;
    std::string_view text_;
};

/// {} stands for the next value, {0} for the first, {{ and }} for a brace.
std::string fill_in(std::string_view pattern, std::initializer_list<Piece> values);

template <class... Values>
std::string formatted(std::string_view pattern, const Values&... values) {
    return fill_in(pattern, {Piece(values)...});
}

/// With so many decimals.
std::string fixed(double value, int decimals);

}  // namespace bullring::protocol::diagram
