// How a text's first bytes show its encoding. Files that came from another system begin with a byte
// order mark, or are UTF-16; every reader of a text file looks at them here.
#pragma once

#include <string_view>

namespace bullring {

/// Without the byte order mark of UTF-8, which has no meaning.
constexpr std::string_view without_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    return text;
}

/// Whether it begins with the byte order mark of UTF-16.
constexpr bool is_utf16(std::string_view text) {
    return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

inline constexpr const char* not_utf8 = "is UTF-16; expected UTF-8";

}  // namespace bullring
