// Instants and durations. An instant is read by the host and handed in; nothing here reads a clock.
//
// An instant is a pair of clocks (PROTOCOL R8): CLOCK_BOOTTIME counts suspend but is slewed by NTP,
// CLOCK_MONOTONIC_RAW is not slewed but stands still in suspend. Safety needs only one of the two
// to run at the right rate, so a lease ends with the first of them and a promise with the last.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace bullring::protocol {

/// Nanoseconds.
struct Duration {
    std::int64_t ns = 0;
    constexpr auto operator<=>(const Duration&) const = default;
};

constexpr Duration microseconds(std::int64_t count) { return {count * 1'000}; }
constexpr Duration milliseconds(std::int64_t count) { return {count * 1'000'000}; }
constexpr Duration seconds(std::int64_t count) { return {count * 1'000'000'000}; }

constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
constexpr Duration operator*(Duration a, std::int64_t factor) { return {a.ns * factor}; }
constexpr Duration operator/(Duration a, std::int64_t divisor) { return {a.ns / divisor}; }

inline constexpr Duration forever{INT64_MAX / 4};

struct Instant {
    std::int64_t boottime_ns = 0;
    std::int64_t raw_ns = 0;
    friend constexpr bool operator==(const Instant&, const Instant&) = default;
};

constexpr Instant operator+(Instant at, Duration d) {
    return {at.boottime_ns + d.ns, at.raw_ns + d.ns};
}
constexpr Instant operator-(Instant at, Duration d) {
    return {at.boottime_ns - d.ns, at.raw_ns - d.ns};
}

/// Before everything: what has this as its end is over.
inline constexpr Instant long_ago{INT64_MIN / 4, INT64_MIN / 4};
/// After everything.
inline constexpr Instant never{INT64_MAX / 4, INT64_MAX / 4};

/// R8.1, the holder's side: the lease is valid only while *both* clocks are before its end.
constexpr bool lease_valid(Instant now, Instant end) {
    return now.boottime_ns < end.boottime_ns && now.raw_ns < end.raw_ns;
}

/// R8.2, the voter's side: a promise (or a silence) is over only when *both* clocks are past its
/// end.
constexpr bool promise_over(Instant now, Instant end) {
    return now.boottime_ns >= end.boottime_ns && now.raw_ns >= end.raw_ns;
}

/// R8.4: an ordinary timer, which no safety rests on; boottime, so that it is due at once after a
/// suspend.
constexpr bool due(Instant now, Instant timer) { return now.boottime_ns >= timer.boottime_ns; }

/// Elapsed time by boottime, for views and statistics.
constexpr Duration elapsed(Instant from, Instant to) { return {to.boottime_ns - from.boottime_ns}; }

constexpr Duration lease_left(Instant now, Instant end) {
    return {std::min(end.boottime_ns - now.boottime_ns, end.raw_ns - now.raw_ns)};
}
constexpr Duration promise_left(Instant now, Instant end) {
    return {std::max(end.boottime_ns - now.boottime_ns, end.raw_ns - now.raw_ns)};
}

/// R8.5: how long a host may sleep, by either clock, before it has to read both again for an
/// instant that the first of them decides: a timer runs on one clock, and the other may get there
/// sooner. The kernel slews CLOCK_BOOTTIME by a tenth and a little at most, so seven eighths of the
/// time that is left are never too long; of less than 200 us a tenth is no matter.
constexpr Duration lease_wait(Instant now, Instant end) {
    const Duration left = lease_left(now, end);
    if (left <= microseconds(200)) return left;
    return left - left / 8;
}

/// The later (earlier) of two, clock by clock.
constexpr Instant later(Instant a, Instant b) {
    return {std::max(a.boottime_ns, b.boottime_ns), std::max(a.raw_ns, b.raw_ns)};
}
constexpr Instant earlier(Instant a, Instant b) {
    return {std::min(a.boottime_ns, b.boottime_ns), std::min(a.raw_ns, b.raw_ns)};
}

}  // namespace bullring::protocol
