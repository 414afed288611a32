#include "src/cli/credentials/key_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "src/base/text/text.hpp"

namespace bullring {

namespace {

/// A line with its end, and the ID of the key on it; empty where there is none.
struct Line {
    std::string_view text;
    std::string id;
};

std::vector<Line> lines_of(std::string_view text) {
    std::vector<Line> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const std::string_view line = text.substr(0, end);
        const auto keys = parse_keys(line);
        lines.push_back({line, keys ? keys->front().id : ""});
        text.remove_prefix(end);
    }
    return lines;
}

SecretText joined(const std::vector<Line>& lines) {
    std::string text;
    std::size_t size = 0;
    for (const Line& line : lines) size += line.text.size() + 1;
    text.reserve(size);
    for (const Line& line : lines) {
        text += line.text;
        if (!line.text.ends_with('\n')) text += '\n';
    }
    return SecretText(std::move(text));
}

struct Places {
    std::size_t first = 0;  // of the lines with a key
    std::size_t asked = 0;
};

tl::expected<Places, std::string> places_of(const std::vector<Line>& lines, std::string_view id) {
    Places places{lines.size(), lines.size()};
    std::string ids;
    for (std::size_t i = lines.size(); i-- > 0;) {
        if (lines[i].id.empty()) continue;
        places.first = i;
        if (lines[i].id == id) places.asked = i;
        ids = lines[i].id + (ids.empty() ? "" : ", ") + ids;
    }
    if (places.asked < lines.size()) return places;
    return tl::unexpected(fmt::format("has no key {}; expected one of {}", in_quotes(id), ids));
}

}  // namespace

tl::expected<SecretText, std::string> with_key_added(std::string_view text, const Key& key) {
    std::vector<Line> lines = lines_of(text);
    const SecretText line = line_of(key);
    lines.push_back({line.view(), key.id});
    SecretText changed = joined(lines);
    if (const auto keys = parse_keys(changed.view()); !keys)
        return tl::unexpected("has no room for another key: with it, it " + keys.error().front());
    return changed;
}

tl::expected<SecretText, std::string> with_key_first(std::string_view text, std::string_view id) {
    std::vector<Line> lines = lines_of(text);
    const auto places = places_of(lines, id);
    if (!places) return tl::unexpected(places.error());
    const auto at = [&](std::size_t place) {
        return lines.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::rotate(at(places->first), at(places->asked), at(places->asked + 1));
    return joined(lines);
}

tl::expected<SecretText, std::string> without_key(std::string_view text, std::string_view id) {
    std::vector<Line> lines = lines_of(text);
    const auto places = places_of(lines, id);
    if (!places) return tl::unexpected(places.error());
    if (places->asked == places->first)
        return tl::unexpected(
            fmt::format("dials with the key {}; expected one below it (bullring key use moves "
                        "another one to the top, on all members before this one is removed)",
                        id));
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(places->asked));
    return joined(lines);
}

}  // namespace bullring
