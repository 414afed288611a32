// Text from outside, made fit to be shown and checked, and small files of it. Knows nothing of what
// the text means.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace bullring {

/// In double quotes, on one line and of bounded length, whatever the bytes are.
std::string in_quotes(std::string_view text);

/// On one line, as UTF-8 and without a control character, whatever the bytes are.
std::string one_line(std::string_view text);

/// Well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
bool is_utf8(std::string_view text);

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The whole file, at most 1 MiB of it. The error names the file and the system's reason.
tl::expected<std::string, std::string> read_text_file(const std::string& path);

}  // namespace bullring
