// Markdown made readable on a terminal: the part of Markdown that the manual uses, and no more.
#pragma once

#include <string>
#include <string_view>

namespace bullring {

/// Links become their text, marks of emphasis and code go, code blocks are indented, and the cells
/// of tables are wrapped so that a table is at most `columns` wide. Other lines stay as they are.
std::string plain_text(std::string_view markdown, std::size_t columns = 100);

}  // namespace bullring
