// One line of JSON, made by hand: the protocol uses the standard library only. Owns the escaping;
// knows nothing of traces.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/values/ids.hpp"

namespace bullring::protocol {

template <class T>
concept JsonNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// Appends one object and a line break to a string. The keys are ours and need no escaping.
class JsonLine {
public:
    explicit JsonLine(std::string& out) : out_(out) { out_ += '{'; }

    template <JsonNumber T>
    void number(const char* name, T value) {
        key(name);
        digits(value);
    }
    void flag(const char* name, bool value);
    /// Any bytes: what is not UTF-8 becomes U+FFFD.
    void text(const char* name, std::string_view value);
    void null(const char* name);
    /// `nobody` is null.
    void id(const char* name, NodeId value);
    /// As text, because JSON readers lose bits of a 64-bit number; 0 is null.
    void incarnation(const char* name, Incarnation value);
    /// One number for each item, by `number_of`.
    template <class Items, class NumberOf>
    void list(const char* name, const Items& items, NumberOf number_of) {
        key(name);
        const char* before = "[";
        for (const auto& item : items) {
            out_ += before;
            digits(number_of(item));
            before = ",";
        }
        out_ += items.empty() ? "[]" : "]";
    }
    /// Nothing may be added afterwards.
    void end() { out_ += "}\n"; }

private:
    void key(const char* name);
    template <JsonNumber T>
    void digits(T value) {
        char buffer[24];
        const auto done = std::to_chars(buffer, buffer + sizeof buffer, value);
        out_.append(buffer, done.ptr);
    }

    std::string& out_;
    bool first_ = true;
};

struct Utf8Character {
    std::size_t length = 1;  // of the character, or of the bytes that began one
    bool good = false;
};

/// Of a text that is not empty.
Utf8Character first_character(std::string_view text);

/// `text` as the inside of a JSON string.
void append_escaped(std::string& out, std::string_view text);

}  // namespace bullring::protocol
