#include "protocol/trace/trace_json.hpp"

#include <cstddef>
#include <cstdint>

namespace bullring::protocol {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

/// A first byte of UTF-8: how long its character is, and what its second byte may be.
struct Lead {
    std::size_t length = 0;  // 0: no character begins so
    std::uint8_t second_min = 0x80;
    std::uint8_t second_max = 0xBF;
};

Lead lead_of(std::uint8_t byte) {
    if (byte < 0x80) return {1};
    if (byte >= 0xC2 && byte <= 0xDF) return {2};
    if (byte == 0xE0) return {3, 0xA0, 0xBF};  // no overlong forms
    if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
    if (byte >= 0xE1 && byte <= 0xEF) return {3};
    if (byte == 0xF0) return {4, 0x90, 0xBF};
    if (byte >= 0xF1 && byte <= 0xF3) return {4};
    if (byte == 0xF4) return {4, 0x80, 0x8F};
    return {};
}

void append_ascii(std::string& out, char c) {
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= 0x20) {
        out += c;
        return;
    }
    out += "\\u00";
    out += hex_digits[byte >> 4U];
    out += hex_digits[byte & 0xFU];
}

}  // namespace

Utf8Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const Lead lead = lead_of(byte(0));
    if (lead.length == 0) return {};
    for (std::size_t i = 1; i < lead.length; ++i) {
        const std::uint8_t min = i == 1 ? lead.second_min : std::uint8_t{0x80};
        const std::uint8_t max = i == 1 ? lead.second_max : std::uint8_t{0xBF};
        if (i >= text.size() || byte(i) < min || byte(i) > max) return {i, false};
    }
    return {lead.length, true};
}

void append_escaped(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const Utf8Character next = first_character(text);
        if (!next.good) {
            out += "\xEF\xBF\xBD";
        } else if (next.length == 1) {
            append_ascii(out, text.front());
        } else {
            out += text.substr(0, next.length);
        }
        text.remove_prefix(next.length);
    }
}

void JsonLine::key(const char* name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
}

void JsonLine::flag(const char* name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
}

void JsonLine::text(const char* name, std::string_view value) {
    key(name);
    out_ += '"';
    append_escaped(out_, value);
    out_ += '"';
}

void JsonLine::null(const char* name) {
    key(name);
    out_ += "null";
}

void JsonLine::id(const char* name, NodeId value) {
    if (value) {
        number(name, value.value);
    } else {
        null(name);
    }
}

void JsonLine::incarnation(const char* name, Incarnation value) {
    if (value.value == 0) return null(name);
    key(name);
    out_ += '"';
    for (unsigned shift = 64; shift != 0;) {
        shift -= 4;
        out_ += hex_digits[value.value >> shift & 0xFU];
    }
    out_ += '"';
}

}  // namespace bullring::protocol
