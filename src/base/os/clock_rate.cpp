#include "src/base/os/clock_rate.hpp"

#include "src/base/os/clock.hpp"

namespace bullring {

namespace {

constexpr int readings = 10;
constexpr double uncertain_ppm_max = 20;

}  // namespace

ClockPair read_clock_pair() {
    ClockPair best;
    for (int i = 0; i < readings; ++i) {
        const std::int64_t before = monotonic_ns();
        const std::int64_t raw = read_clock().raw_ns;
        const std::int64_t apart = monotonic_ns() - before;
        if (i == 0 || apart < best.apart_ns) best = {before + apart / 2, raw, apart};
    }
    return best;
}

std::optional<double> correction_ppm(const ClockPair& from, const ClockPair& to) {
    constexpr double million = 1'000'000;
    const auto raw = static_cast<double>(to.raw_ns - from.raw_ns);
    const auto corrected = static_cast<double>(to.corrected_ns - from.corrected_ns);
    const auto apart = static_cast<double>(from.apart_ns + to.apart_ns) / 2;
    if (raw <= 0 || apart * million > uncertain_ppm_max * raw) return std::nullopt;
    return (corrected - raw) / raw * million;
}

}  // namespace bullring
