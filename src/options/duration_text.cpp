#include "src/options/duration_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/options/text.hpp"

namespace bullring {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t ns;
};

constexpr std::array<Unit, 6> units{{{"ns", 1},
                                     {"us", 1'000},
                                     {"ms", 1'000'000},
                                     {"s", 1'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"h", 3'600'000'000'000}}};
constexpr protocol::Duration longest = protocol::seconds(365LL * 24 * 3600);
constexpr std::string_view right = "; right is a number and ns, us, ms, s, m or h, such as 50ms";

std::optional<Unit> unit_named(std::string_view name) {
    for (const Unit& unit : units) {
        if (unit.name == name) return unit;
    }
    return std::nullopt;
}

/// value + digit · place, nullopt when that is more than `longest`.
std::optional<std::int64_t> plus_digit(std::int64_t value, char digit, std::int64_t place) {
    const std::int64_t count = digit - '0';
    if (count != 0 && place > (longest.ns - value) / count) return std::nullopt;
    return value + count * place;
}

}  // namespace

tl::expected<protocol::Duration, std::string> parse_duration(std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        return tl::unexpected(in_quotes(text) + " " + std::string(why));
    };
    const auto malformed = [&](std::string_view why) {
        return refuse(std::string(why) + std::string(right));
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
    const std::optional<Unit> unit = unit_named(text.substr(unit_at));
    if (!unit) return malformed("has an unknown unit " + in_quotes(text.substr(unit_at)));

    std::int64_t total = 0;
    for (const char digit : whole) {
        // Horner's scheme, in units: ten times what stands so far, plus the digit.
        if (total > longest.ns / 10) return refuse("is too long; at most one year (8760h)");
        const auto more = plus_digit(total * 10, digit, unit->ns);
        if (!more) return refuse("is too long; at most one year (8760h)");
        total = *more;
    }
    std::int64_t place = unit->ns;
    for (const char digit : fraction) {
        const bool indivisible = place == 0 || place % 10 != 0;
        if (indivisible && digit != '0') return refuse("is finer than a nanosecond");
        place /= 10;
        const auto more = plus_digit(total, digit, place);
        if (!more) return refuse("is too long; at most one year (8760h)");
        total = *more;
    }
    return protocol::Duration{total};
}

}  // namespace bullring
