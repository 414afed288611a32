#include "sim/scenario/line_reader.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

namespace {

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

LineReader::LineReader(std::string_view line, int number) : number_(number) {
    line = line.substr(0, line.find('#'));
    std::size_t at = 0;
    while (at < line.size()) {
        const std::size_t begin = line.find_first_not_of(" \t\r", at);
        if (begin == std::string_view::npos) break;
        const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
        words_.emplace_back(line.substr(begin, end - begin));
        at = end;
    }
}

void LineReader::fail(const std::string& what) {
    if (problem_.empty()) problem_ = fmt::format("{}: {}", number_, what);
}

bool LineReader::take(std::string_view word) {
    if (peek() != word) return false;
    ++next_;
    return true;
}

std::string_view LineReader::word(const char* what) {
    if (next_ == words_.size()) {
        fail(fmt::format("{} is missing", what));
        return "";
    }
    return words_[next_++];
}

std::string LineReader::one_of(const std::vector<std::string_view>& words) {
    const std::string_view found = peek();
    for (const std::string_view word : words)
        if (take(word)) return std::string(word);
    fail(fmt::format("'{}' where one of {} has its place", found, fmt::join(words, ", ")));
    return "";
}

std::int64_t LineReader::number(const char* what, std::int64_t min, std::int64_t max) {
    const std::string_view text = word(what);
    const auto value = integer(text);
    if (!value || *value < min || *value > max) {
        fail(fmt::format("{} '{}': a number from {} to {} is needed", what, text, min, max));
        return min;
    }
    return *value;
}

Time LineReader::duration(const char* what) {
    const std::string_view text = word(what);
    const auto value = parse_duration(text);
    if (!value)
        fail(fmt::format("{} '{}': a duration such as 200us or 1.5s is needed", what, text));
    return value.value_or(0);
}

Range LineReader::range(const char* what) {
    const std::string_view text = word(what);
    const std::size_t dots = text.find("..");
    const auto min = parse_duration(text.substr(0, dots));
    const auto max = dots == std::string_view::npos ? min : parse_duration(text.substr(dots + 2));
    if (!min || !max || *max < *min) {
        fail(fmt::format("{} '{}': a range such as 200us..1ms is needed", what, text));
        return {};
    }
    return {*min, *max};
}

NodeId LineReader::id() {
    return {static_cast<std::uint64_t>(number("a node's id", 1, INT64_MAX))};
}

Target LineReader::target_from(std::string_view text) {
    using Kind = Target::Kind;
    if (text == "all") return {Kind::all, {}, {}};
    if (text == "leader") return {Kind::leader, {}, {}};
    if (text == "follower") return {Kind::follower, {}, {}};
    if (text == "highest") return {Kind::highest, {}, {}};
    if (text == "best") return {Kind::best, {}, {}};
    if (text == "second") return {Kind::second, {}, {}};
    if (text.size() > 1 && text[0] == 'n') {
        text.remove_prefix(text[1] == '-' ? 2 : 1);
        Target target = text == "any" ? Target{} : target_from(text);
        target.site = Site::neighbour;
        return target;
    }
    const auto value = integer(text);
    if (!value || *value < 1) {
        fail(fmt::format(
            "'{}': a node's id or one of all, leader, follower, highest, best, second is needed",
            text));
        return {};
    }
    return {Kind::id, {static_cast<std::uint64_t>(*value)}, {}};
}

Target LineReader::target() { return target_from(word("a node")); }

std::pair<Target, Target> LineReader::link(char& separator) {
    const std::string_view text = word("a link");
    const std::size_t at = text.find_first_of("->");
    if (at == std::string_view::npos) {
        fail(fmt::format("'{}': a link such as 1-2 (both ways) or 1>2 (one way) is needed", text));
        return {};
    }
    separator = text[at];
    return {target_from(text.substr(0, at)), target_from(text.substr(at + 1))};
}

void LineReader::end() {
    if (!failed() && next_ < words_.size())
        fail(fmt::format(
            "'{}' is too much",
            fmt::join(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end(), " ")));
}

}  // namespace bullring::sim
