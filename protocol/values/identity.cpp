#include "protocol/values/identity.hpp"

namespace bullring::protocol {

std::string to_text(ClusterId id) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text(16, '0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = digits[id.value >> (60 - 4 * i) & 15U];
    return text;
}

}  // namespace bullring::protocol
