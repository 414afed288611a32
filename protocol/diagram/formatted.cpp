#include "protocol/diagram/formatted.hpp"

#include <charconv>
#include <cstddef>

namespace bullring::protocol::diagram {

std::string fill_in(std::string_view pattern, std::initializer_list<Piece> values) {
    std::string out;
    std::size_t next = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if (c != '{' && c != '}') {
            out += c;
        } else if (i + 1 < pattern.size() && pattern[i + 1] == c) {
            out += c;
            ++i;
        } else if (c == '{') {
            std::size_t which = next;
            if (pattern[i + 1] == '}') {
                ++next;
            } else {
                which = static_cast<std::size_t>(pattern[++i] - '0');
            }
            ++i;  // the closing brace
            out += (values.begin() + which)->text();
        }
    }
    return out;
}

std::string fixed(double value, int decimals) {
    char text[400];  // the longest double has 309 digits in front of the point
    const auto done =
        std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
    return {text, done.ptr};
}

}  // namespace bullring::protocol::diagram
