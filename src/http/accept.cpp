#include "src/http/accept.hpp"

#include <algorithm>
#include <charconv>

#include "src/http/tokens.hpp"

namespace bullring {

namespace {

/// Of one entry, 1 if it says none. What can't be read counts as 0: it is asked for something else.
double quality_of(std::string_view parameters) {
    double quality = 1;
    for_each_part(parameters, ';', [&quality](std::string_view parameter) {
        if (parameter.size() < 2 || !equal_ignoring_case(parameter.substr(0, 2), "q=")) return;
        const std::string_view value = parameter.substr(2);
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), quality);
        if (error != std::errc() || end != value.data() + value.size()) quality = 0;
        quality = std::clamp(quality, 0.0, 1.0);
    });
    return quality;
}

/// 3: `range` is the type, 2: "type/*", 1: "*/*", 0: it does not cover it.
int precision(std::string_view range, std::string_view type) {
    if (equal_ignoring_case(range, type)) return 3;
    if (range == "*/*") return 1;
    const std::size_t slash = type.find('/');
    return range.ends_with("/*") &&
                   equal_ignoring_case(range.substr(0, range.size() - 1), type.substr(0, slash + 1))
               ? 2
               : 0;
}

}  // namespace

Preference preference(std::string_view accept, std::string_view type) {
    if (trimmed(accept).empty()) return {1, false};
    Preference best;
    int best_precision = 0;
    for_each_part(accept, ',', [&](std::string_view entry) {
        const std::size_t end = std::min(entry.find(';'), entry.size());
        const int how = precision(trimmed(entry.substr(0, end)), type);
        if (how == 0 || how < best_precision) return;
        const double quality = quality_of(entry.substr(end));
        // The same type may be named several times, with parameters of its own.
        best.quality = how == best_precision ? std::max(best.quality, quality) : quality;
        best.named = how == 3;
        best_precision = how;
    });
    return best;
}

bool asks_for(std::string_view accept, std::string_view type, std::string_view other) {
    const Preference wanted = preference(accept, type);
    return wanted.named && wanted.quality > 0 &&
           wanted.quality >= preference(accept, other).quality;
}

}  // namespace bullring
