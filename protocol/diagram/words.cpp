#include "protocol/diagram/words.hpp"

#include <algorithm>

#include "protocol/diagram/formatted.hpp"

namespace bullring::protocol::diagram {

std::string rounded_duration(std::int64_t ns) {
    const bool negative = ns < 0;
    const double value = negative ? -static_cast<double>(ns) : static_cast<double>(ns);
    struct Unit {
        double ns;
        const char* name;
    };
    constexpr Unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    const Unit* unit = &units[0];
    while (unit->ns > 1 && value < unit->ns * 0.9995) ++unit;
    const double count = value / unit->ns;
    const int decimals = unit->ns <= 1 || count >= 99.95 ? 0 : count >= 9.995 ? 1 : 2;
    std::string number = fixed(count, decimals);
    if (number.find('.') != std::string::npos) {
        while (number.back() == '0') number.pop_back();
        if (number.back() == '.') number.pop_back();
    }
    return formatted("{}{} {}", negative ? "−" : "", number, unit->name);
}

std::string list_text(const std::vector<std::uint64_t>& items) {
    std::string text;
    for (const std::uint64_t item : items) {
        if (!text.empty()) text += ", ";
        text += std::to_string(item);
    }
    return text;
}

EpochNames::EpochNames(const std::vector<std::uint64_t>& epochs) {
    std::uint64_t lowest = UINT64_MAX;
    std::uint64_t highest = 0;
    for (const std::uint64_t epoch : epochs) {
        if (epoch == 0) continue;
        lowest = std::min(lowest, epoch);
        highest = std::max(highest, epoch);
    }
    if (highest < 1'000'000) return;
    std::uint64_t modulus = 1'000;
    int digits = 3;
    // All that is left out must be the same everywhere, or the order would be lost.
    while (lowest / modulus != highest / modulus && digits < 10) {
        modulus *= 10;
        ++digits;
    }
    if (lowest / modulus != highest / modulus || lowest / modulus == 0) return;
    modulus_ = modulus;
    digits_ = digits;
}

std::string EpochNames::name(std::uint64_t epoch) const {
    if (modulus_ == 0) return std::to_string(epoch);
    const std::string end = std::to_string(epoch % modulus_);
    return "…" + std::string(static_cast<std::size_t>(digits_) - end.size(), '0') + end;
}

}  // namespace bullring::protocol::diagram
