// The small words of HTTP's grammar. Pure.
#pragma once

#include <algorithm>
#include <string_view>

#include "src/base/text/text.hpp"

namespace bullring {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// Calls `visit` with each part of a list, trimmed; empty ones are left out.
template <class Visit>
void for_each_part(std::string_view list, char separator, Visit visit) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(separator), list.size());
        if (const std::string_view part = trimmed(list.substr(0, end)); !part.empty()) visit(part);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

/// A character of a method (RFC 9110, 5.6.2).
constexpr bool is_http_token(std::string_view word) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !word.empty() && std::all_of(word.begin(), word.end(), [marks](char c) {
        return (c >= '0' && c <= '9') || (to_lower(c) >= 'a' && to_lower(c) <= 'z') ||
               marks.find(c) != std::string_view::npos;
    });
}

}  // namespace bullring
