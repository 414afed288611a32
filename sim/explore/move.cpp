#include "sim/explore/move.hpp"

#include <algorithm>
#include <charconv>

namespace bullring::sim::explore {

std::string to_text(const Move& move) {
    std::string text = name(move.kind);
    if (move.kind != MoveKind::wait) text += " " + std::to_string(move.node + 1);
    if (has_other(move.kind)) text += ">" + std::to_string(move.other + 1);
    if (has_connection(move.kind)) text += "/" + std::to_string(move.connection + 1);
    return text;
}

bool read_place(std::string_view text, Move& move) {
    std::string_view rest = text;
    const auto index = [&]() -> std::size_t {
        std::uint16_t number = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        rest.remove_prefix(std::min<std::size_t>(rest.size(), 1));
        return error == std::errc{} && number > 0 ? number - 1U : 0;
    };
    const std::size_t node = index();
    const std::size_t other = has_other(move.kind) ? index() : 0;
    move = move_of(move.kind, node, other, has_connection(move.kind) ? index() : 0);
    return to_text(move) == name(move.kind) + (" " + std::string(text));
}

}  // namespace bullring::sim::explore
