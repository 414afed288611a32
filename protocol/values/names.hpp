// Reading the words of the field for enumerations. Each word stands once: in the exhaustive switch
// of name(), declared beside its enumeration. The words that can be read, and the list of those
// that would be right, are taken from there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bullring::protocol {

/// The text that name() gives for a value that is no enumerator.
inline constexpr const char* no_name = "?";

/// All enumerators in their order; none of those that are read from text is above 31.
template <class Enum>
std::vector<Enum> enumerators() {
    std::vector<Enum> all;
    for (int place = 0; place < 32; ++place)
        if (std::string_view(name(static_cast<Enum>(place))) != no_name)
            all.push_back(static_cast<Enum>(place));
    return all;
}

/// The enumerator with this name; nullopt for any other word.
template <class Enum>
std::optional<Enum> named(std::string_view word) {
    for (const Enum value : enumerators<Enum>())
        if (word == name(value)) return value;
    return std::nullopt;
}

/// "bully, ring".
template <class Enum>
std::string all_names() {
    std::string names;
    for (const Enum value : enumerators<Enum>())
        names += (names.empty() ? "" : ", ") + std::string(name(value));
    return names;
}

}  // namespace bullring::protocol
