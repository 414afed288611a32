#include "src/base/text/text.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <system_error>

#include "src/base/text/text_encoding.hpp"

namespace bullring {

namespace {

constexpr std::size_t shown_bytes_max = 120;
constexpr std::size_t file_bytes_max = std::size_t{1} << 20U;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

std::uint8_t byte_at(std::string_view text, std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
}

/// The length of the well-formed character that `text` begins with, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
    struct Form {
        std::uint8_t first_low;
        std::uint8_t first_high;
        std::uint8_t second_low;
        std::uint8_t second_high;
        std::size_t length;
    };
    // Table 3-7 of the Unicode standard: only the second byte's range depends on the first.
    static constexpr std::array<Form, 8> forms{{{0xC2, 0xDF, 0x80, 0xBF, 2},
                                                {0xE0, 0xE0, 0xA0, 0xBF, 3},
                                                {0xE1, 0xEC, 0x80, 0xBF, 3},
                                                {0xED, 0xED, 0x80, 0x9F, 3},
                                                {0xEE, 0xEF, 0x80, 0xBF, 3},
                                                {0xF0, 0xF0, 0x90, 0xBF, 4},
                                                {0xF1, 0xF3, 0x80, 0xBF, 4},
                                                {0xF4, 0xF4, 0x80, 0x8F, 4}}};
    const std::uint8_t first = byte_at(text, 0);
    if (first < 0x80) return 1;
    for (const Form& form : forms) {
        if (first < form.first_low || first > form.first_high) continue;
        if (text.size() < form.length) return 0;
        if (byte_at(text, 1) < form.second_low || byte_at(text, 1) > form.second_high) return 0;
        for (std::size_t i = 2; i < form.length; ++i) {
            if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
        }
        return form.length;
    }
    return 0;
}

std::string escaped(std::uint8_t byte) {
    static constexpr std::string_view digits = "0123456789abcdef";
    return {'\\', 'x', digits[byte >> 4U], digits[byte & 0xFU]};
}

/// Moves the first character of `text` to `shown`. What a terminal would obey, and what is no
/// UTF-8, is escaped: the control characters U+0000 … U+001F and U+007F … U+009F among them.
void show_first(std::string_view& text, std::string& shown) {
    const std::size_t length = utf8_length(text);
    const std::uint8_t first = byte_at(text, 0);
    const bool control =
        first < 0x20 || first == 0x7F || (length == 2 && first == 0xC2 && byte_at(text, 1) < 0xA0);
    if (length == 0 || control) {
        shown += escaped(first);
        text.remove_prefix(1);
    } else {
        shown += text.substr(0, length);
        text.remove_prefix(length);
    }
}

}  // namespace

std::string in_quotes(std::string_view text) {
    std::string shown = "\"";
    while (!text.empty()) {
        if (shown.size() > shown_bytes_max) return shown + "…\"";
        show_first(text, shown);
    }
    return shown + "\"";
}

std::string one_line(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        if (text.front() == '\n' || text.front() == '\r' || text.front() == '\t') {
            shown += ' ';
            text.remove_prefix(1);
        } else {
            show_first(text, shown);
        }
    }
    return shown;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string in_small_letters(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
}

const char* why_not_whole(std::string_view text) {
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && stop == text.data() + text.size();
    return is_number ? "is not a whole number" : "is not a number";
}

tl::expected<std::string, NotRead> read_text_file(const std::string& path) {
    const auto refuse = [&](const std::string& why, bool passes = false) {
        return tl::unexpected(
            NotRead{"the file " + in_quotes(path) + " can't be read: " + why, passes});
    };
    const auto refused_by_system = [&] {
        return refuse(std::generic_category().message(errno), errno != EISDIR);
    };

    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
    if (!file) return refused_by_system();
    std::string text;
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
        text.append(buffer.data(), count);
        if (text.size() > file_bytes_max) return refuse("it is longer than 1 MiB");
    }
    if (std::ferror(file.get()) != 0) return refused_by_system();
    if (is_utf16(text)) return refuse(std::string("it ") + not_utf8);
    return std::string(without_mark(text));
}

}  // namespace bullring
