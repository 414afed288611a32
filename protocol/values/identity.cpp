#include "protocol/values/identity.hpp"

#include <charconv>

namespace bullring::protocol {

std::string to_text(ClusterId id) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text(16, '0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = digits[id.value >> (60 - 4 * i) & 15U];
    return text;
}

ClusterId cluster_id_in(std::string_view text) {
    ClusterId id;
    const char* const end = text.data() + text.size();
    const bool is_one =
        text.size() == 16 && std::from_chars(text.data(), end, id.value, 16).ptr == end;
    return is_one ? id : ClusterId{};
}

}  // namespace bullring::protocol
