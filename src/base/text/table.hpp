// A table of texts for people.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace bullring {

/// Columns as wide as their widest text, two blanks between them, none at the end of a line.
template <std::size_t columns>
std::string table(const std::vector<std::array<std::string, columns>>& rows) {
    std::array<std::size_t, columns> widths{};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i + 1 < columns; ++i)
            text += fmt::format("{:<{}}  ", row[i], widths[i]);
        text += row.back();
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

}  // namespace bullring
