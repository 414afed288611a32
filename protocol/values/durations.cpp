#include "protocol/values/durations.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace bullring::protocol {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t ns;
};

// From the longest; those longer than a second are read, but not written.
constexpr std::array<Unit, 6> units{{{"h", 3'600'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"s", 1'000'000'000},
                                     {"ms", 1'000'000},
                                     {"us", 1'000},
                                     {"ns", 1}}};
constexpr std::size_t longest_written = 2;

/// value + digit · place, nullopt when that is more than the longest duration.
std::optional<std::int64_t> plus_digit(std::int64_t value, char digit, std::int64_t place) {
    const std::int64_t count = digit - '0';
    if (count != 0 && place > (duration_max.ns - value) / count) return std::nullopt;
    return value + count * place;
}

}  // namespace

std::variant<Duration, NoDuration> parse_duration(std::string_view text) {
    const auto malformed = [](std::string_view why, std::string_view part = {}) {
        return NoDuration{why, part, "a number and ns, us, ms, s, m or h, such as 50ms"};
    };
    if (text.empty()) return malformed("is not a duration");
    if (text.front() == '-') return malformed("is negative");

    const std::size_t unit_at = text.find_first_not_of("0123456789.");
    const std::string_view number = text.substr(0, unit_at);
    const std::size_t point = number.find('.');
    const std::string_view whole = number.substr(0, point);
    const std::string_view fraction =
        point == std::string_view::npos ? std::string_view{} : number.substr(point + 1);
    const bool fraction_wrong = point != std::string_view::npos &&
                                (fraction.empty() || fraction.find('.') != std::string_view::npos);
    if (whole.empty() || fraction_wrong) return malformed("is not a duration");
    if (unit_at == std::string_view::npos) return malformed("has no unit");
    const std::string_view unit_name = text.substr(unit_at);
    const auto* const unit = std::find_if(units.begin(), units.end(),
                                          [&](const Unit& one) { return one.name == unit_name; });
    if (unit == units.end()) return malformed("has an unknown unit", unit_name);

    std::int64_t total = 0;
    for (const char digit : whole) {
        // Horner's scheme, in units: ten times what stands so far, plus the digit.
        if (total > duration_max.ns / 10) return NoDuration{duration_too_long, {}, {}};
        const auto more = plus_digit(total * 10, digit, unit->ns);
        if (!more) return NoDuration{duration_too_long, {}, {}};
        total = *more;
    }
    std::int64_t place = unit->ns;
    for (const char digit : fraction) {
        const bool indivisible = place == 0 || place % 10 != 0;
        if (indivisible && digit != '0') return NoDuration{"is finer than a nanosecond", {}, {}};
        place /= 10;
        const auto more = plus_digit(total, digit, place);
        if (!more) return NoDuration{duration_too_long, {}, {}};
        total = *more;
    }
    return Duration{total};
}

std::string to_text(Duration duration) {
    if (duration.ns == 0) return "0s";

    // Unsigned, so that the most negative duration has an absolute value too.
    const std::string sign = duration.ns < 0 ? "-" : "";
    const auto bits = static_cast<std::uint64_t>(duration.ns);
    const std::uint64_t length = duration.ns < 0 ? 0 - bits : bits;
    const auto* const unit = std::find_if(
        units.begin() + longest_written, units.end(),
        [&](const Unit& candidate) { return length >= static_cast<std::uint64_t>(candidate.ns); });
    const auto unit_ns = static_cast<std::uint64_t>(unit->ns);
    std::string text = sign + std::to_string(length / unit_ns);
    if (std::uint64_t rest = length % unit_ns; rest != 0) {
        // The unit's own digits, with the leading zeros and without the trailing ones.
        std::string digits = std::to_string(unit_ns + rest);
        digits.front() = '.';
        text += digits.substr(0, digits.find_last_not_of('0') + 1);
    }
    return text.append(unit->name);
}

}  // namespace bullring::protocol
