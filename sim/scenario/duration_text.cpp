#include "sim/scenario/duration_text.hpp"

#include <variant>

#include "protocol/values/durations.hpp"

namespace bullring::sim {

std::optional<Time> parse_duration(std::string_view text) {
    const auto parsed = protocol::parse_duration(text);
    if (const auto* duration = std::get_if<Duration>(&parsed)) return duration->ns;
    return std::nullopt;
}

std::string duration_text(Time duration) { return to_text(Duration{duration}); }

std::string rounded_text(Time duration) {
    for (const Time unit : {sec, ms, us}) {
        if (duration < unit) continue;
        const Time digit = unit / 1000;
        return duration_text((duration + digit / 2) / digit * digit);
    }
    return duration_text(duration);
}

}  // namespace bullring::sim
