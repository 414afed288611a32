#include "src/base/os/clock.hpp"

#include <cerrno>
#include <ctime>
#include <system_error>

#include <sys/random.h>

#include "src/base/text/rfc3339.hpp"

namespace bullring {

namespace {

/// No build of this version is older than this (2026-11-01, 00:00 UTC).
constexpr std::uint64_t build_date_ms = 1'793'491'200'000;

std::int64_t read_ns(clockid_t clock) {
    timespec at{};
    ::clock_gettime(clock, &at);
    return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

}  // namespace

protocol::Instant read_clock() { return {read_ns(CLOCK_BOOTTIME), read_ns(CLOCK_MONOTONIC_RAW)}; }

WallClock read_wall_clock() {
    const std::int64_t ns = read_ns(CLOCK_REALTIME);
    const std::uint64_t ms = ns < 0 ? 0 : static_cast<std::uint64_t>(ns) / 1'000'000;
    if (ms < build_date_ms) return {build_date_ms, true};
    return {ms, false};
}

std::int64_t monotonic_ns() { return read_ns(CLOCK_MONOTONIC); }

std::int64_t wall_clock_ns() { return read_ns(CLOCK_REALTIME); }

std::string rfc3339(std::int64_t wall_clock_ns) {
    return std::string(Rfc3339(wall_clock_ns).text());
}

std::uint64_t random_bits() {
    std::uint64_t bits = 0;
    while (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
        if (errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
    }
    return bits;
}

}  // namespace bullring
