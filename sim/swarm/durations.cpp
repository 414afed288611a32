// How durations are put into classes, so that the results of several machines can be added.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/swarm/sweep.hpp"

namespace bullring::sim {

namespace {

/// 16 classes for each doubling.
constexpr unsigned fine_bits = 4;

std::uint32_t class_of(Time took) {
    const auto value = static_cast<std::uint64_t>(std::max<Time>(took, 0));
    if (value < (1U << fine_bits)) return static_cast<std::uint32_t>(value);
    const auto top = static_cast<unsigned>(std::bit_width(value)) - 1;
    const std::uint64_t fine = value >> (top - fine_bits) & ((1U << fine_bits) - 1);
    return static_cast<std::uint32_t>(((top - fine_bits + 1) << fine_bits) + fine);
}

Time upper_end(std::uint32_t at) {
    if (at < (1U << fine_bits)) return at;
    const unsigned top = (at >> fine_bits) + fine_bits - 1;
    const std::uint64_t fine = (at & ((1U << fine_bits) - 1)) + (1U << fine_bits) + 1;
    return static_cast<Time>((fine << (top - fine_bits)) - 1);
}

}  // namespace

void Durations::add(Time took, Time limit) {
    ++classes_[class_of(took)];
    raise_max(took, limit);
}

void Durations::raise_max(Time took, Time limit) {
    max_ = std::max(max_, took);
    if (limit > 0) raise_nearest(took / (limit / 100 + 1));
}

void Durations::raise_nearest(std::int64_t percent) {
    nearest_percent_ = std::max(nearest_percent_, percent);
}

void Durations::add(const Durations& other) {
    for (const auto& [at, times] : other.classes_) classes_[at] += times;
    max_ = std::max(max_, other.max_);
    raise_nearest(other.nearest_percent_);
}

std::uint64_t Durations::count() const {
    std::uint64_t all = 0;
    for (const auto& [at, times] : classes_) all += times;
    return all;
}

Time Durations::quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count())));
    std::uint64_t below = 0;
    for (const auto& [at, times] : classes_) {
        below += times;
        if (below >= wanted) return std::min(upper_end(at), max_);
    }
    return max_;
}

}  // namespace bullring::sim
