#include "sim/scenario/duration_text.hpp"

#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

namespace bullring::sim {

namespace {

constexpr std::array<std::pair<std::string_view, Time>, 6> units{{
    {"h", 3600 * sec},
    {"min", 60 * sec},
    {"s", sec},
    {"ms", ms},
    {"us", us},
    {"ns", 1},
}};

constexpr Time longest = 1'000'000 * sec;

}  // namespace

std::optional<Time> parse_duration(std::string_view text) {
    std::size_t i = 0;
    Time whole = 0;
    const auto is_digit = [&](std::size_t at) {
        return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    if (!is_digit(0)) return std::nullopt;
    for (; is_digit(i); ++i) {
        whole = whole * 10 + (text[i] - '0');
        if (whole > longest) return std::nullopt;
    }
    Time decimals = 0;
    Time scale = 1;
    if (i < text.size() && text[i] == '.') {
        if (!is_digit(++i)) return std::nullopt;
        for (; is_digit(i); ++i) {
            if (scale == 1'000'000'000) return std::nullopt;
            decimals = decimals * 10 + (text[i] - '0');
            scale *= 10;
        }
    }
    for (const auto& [name, unit] : units) {
        if (text.substr(i) != name) continue;
        if (whole > longest / unit) return std::nullopt;
        // decimals < scale ≤ 1e9 and unit ≤ 3.6e12, so the product needs the parts.
        const Time part = unit / scale * decimals + unit % scale * decimals / scale;
        return whole * unit + part;
    }
    return std::nullopt;
}

std::string duration_text(Time duration) {
    if (duration == 0) return "0s";
    for (const auto& [name, unit] : units) {
        if (unit > sec || duration < unit) continue;
        if (duration % unit == 0) return fmt::format("{}{}", duration / unit, name);
        // The unit's own digits, with the leading zeros and without the trailing ones.
        std::string decimals = fmt::format("{}", unit + duration % unit).substr(1);
        decimals.erase(decimals.find_last_not_of('0') + 1);
        return fmt::format("{}.{}{}", duration / unit, decimals, name);
    }
    return fmt::format("{}ns", duration);
}

std::string rounded_text(Time duration) {
    for (const auto& [name, unit] : units) {
        if (unit > sec || unit < us || duration < unit) continue;
        const Time digit = unit / 1000;
        return duration_text((duration + digit / 2) / digit * digit);
    }
    return duration_text(duration);
}

}  // namespace bullring::sim
