// Text from outside, made fit to be shown and checked, and small files of it. Knows nothing of what
// the text means.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "src/base/text/not_read.hpp"

namespace bullring {

/// In double quotes, on one line and of bounded length, whatever the bytes are.
std::string in_quotes(std::string_view text);

/// On one line, as UTF-8 and without a control character, whatever the bytes are.
std::string one_line(std::string_view text);

/// Well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// A … Z become a … z.
std::string in_small_letters(std::string_view text);

/// The reason why a text is no whole number: it is another kind of number, or none.
const char* why_not_whole(std::string_view text);

/// The whole file of UTF-8, at most 1 MiB, without a byte order mark. The error names the file and
/// the system's reason.
tl::expected<std::string, NotRead> read_text_file(const std::string& path);

}  // namespace bullring
