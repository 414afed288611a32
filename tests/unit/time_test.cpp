// Instants of two clocks (R8): a lease ends with the first of them, a promise with the last.
#include "protocol/values/time.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "protocol/values/timing.hpp"

namespace bullring::protocol::time_test {
namespace {

constexpr std::int64_t million = 1'000'000;

Timing timing_with(std::uint32_t rho_ppm) {
    Timing timing = make_timing(TimingRequest{}, 3, Algorithm::bully);
    timing.rho_ppm = rho_ppm;
    return timing;
}

std::int64_t draw_between(std::int64_t low, std::int64_t high) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(low, high + 1));
}

/// A clock that runs at a constant rate within 1±ρ from a moment on: real time in, reading out.
struct DriftingClock {
    std::int64_t offset_ns;
    std::int64_t rate_ppm;  // parts of a million more than real time
    std::int64_t read(std::int64_t real_ns) const {
        __extension__ using Wide = __int128;
        const Wide run = static_cast<Wide>(real_ns) * (million + rate_ppm) / million;
        return offset_ns + static_cast<std::int64_t>(run);
    }
};

/// A host whose two clocks may each be broken in its own way; R8 asks for one that is right.
struct Host {
    DriftingClock right;
    DriftingClock wrong;
    bool boottime_is_right = false;
    Instant read(std::int64_t real_ns) const {
        const std::int64_t good = right.read(real_ns);
        const std::int64_t bad = wrong.read(real_ns);
        return boottime_is_right ? Instant{good, bad} : Instant{bad, good};
    }
};

Host draw_host(std::int64_t rho_ppm) {
    Host host;
    host.right = {draw_between(0, 1'000'000'000'000), draw_between(-rho_ppm, rho_ppm)};
    // Slewed by up to a half, or (−1 000 000) standing still as in a suspended guest.
    host.wrong = {draw_between(0, 1'000'000'000'000),
                  *rc::gen::oneOf(rc::gen::just(-million), rc::gen::just(std::int64_t{0}),
                                  rc::gen::just(std::int64_t{83'000}),
                                  rc::gen::inRange<std::int64_t>(-500'000, 500'000))};
    host.boottime_is_right = *rc::gen::arbitrary<bool>();
    return host;
}

// R8.1
TEST_CASE("time: a lease is over as soon as one of its clocks has reached the end") {
    const Instant end{100, 200};
    CHECK(lease_valid({99, 199}, end));
    CHECK_FALSE(lease_valid({100, 199}, end));
    CHECK_FALSE(lease_valid({99, 200}, end));
    CHECK_FALSE(lease_valid({100, 200}, end));
}

// R8.2
TEST_CASE("time: a promise is over only when both of its clocks have reached the end") {
    const Instant end{100, 200};
    CHECK_FALSE(promise_over({99, 199}, end));
    CHECK_FALSE(promise_over({100, 199}, end));
    CHECK_FALSE(promise_over({99, 200}, end));
    CHECK(promise_over({100, 200}, end));
}

TEST_CASE("time: what is left of a lease is the shorter of its clocks, of a promise the longer") {
    CHECK(lease_left({90, 150}, {100, 200}) == Duration{10});
    CHECK(promise_left({90, 150}, {100, 200}) == Duration{50});
}

TEST_CASE("time: a lease that is over has nothing left and a valid one has something left") {
    CHECK(rc::check("lease_valid and lease_left agree, and so do the promise's", [] {
        const Instant now{draw_between(-50, 50), draw_between(-50, 50)};
        const Instant end{draw_between(-50, 50), draw_between(-50, 50)};
        RC_ASSERT(lease_valid(now, end) == (lease_left(now, end).ns > 0));
        RC_ASSERT(promise_over(now, end) == (promise_left(now, end).ns <= 0));
    }));
}

// R8.4
TEST_CASE("time: an ordinary timer looks at boottime alone") {
    CHECK(due({100, 0}, {100, 999}));
    CHECK_FALSE(due({99, 999}, {100, 0}));
}

TEST_CASE("time: later and earlier choose clock by clock") {
    CHECK(later({1, 20}, {2, 10}) == Instant{2, 20});
    CHECK(earlier({1, 20}, {2, 10}) == Instant{1, 10});
}

TEST_CASE("time: never and long_ago are on their sides of every instant that a host reads") {
    const Instant now{INT64_MAX / 8, INT64_MAX / 8};
    CHECK(lease_valid(now, never));
    CHECK_FALSE(promise_over(now, never));
    CHECK_FALSE(lease_valid(now, long_ago));
    CHECK(promise_over(now, long_ago));
}

TEST_CASE("time: a promise of P(x) covers a lease x when each side has one clock that is right") {
    CHECK(rc::check("while the lease is valid at its holder, the promise is live at its voter", [] {
        const auto rho = static_cast<std::uint32_t>(draw_between(1, 100'000));
        const Timing timing = timing_with(rho);
        const Host holder = draw_host(rho);
        const Host voter = draw_host(rho);
        const Duration lease{draw_between(million, 2'000 * million)};
        // Whole milliseconds of real time, so that reading a drifting clock needs no rounding.
        const std::int64_t sent = draw_between(0, 1'000) * million;
        const std::int64_t granted = sent + draw_between(0, lease.ns / million) * million;
        const Instant lease_end = holder.read(sent) + lease;
        const Instant promise_end = voter.read(granted) + timing.promise(lease);
        const std::int64_t at = granted + draw_between(0, 2 * lease.ns / million) * million;
        if (lease_valid(holder.read(at), lease_end))
            RC_ASSERT_FALSE(promise_over(voter.read(at), promise_end));
    }));
}

// R8.5
TEST_CASE(
    "time: sleeping by either clock, a host is there when the first of the two ends a lease") {
    CHECK(rc::check("looks of lease_wait() are never late by more than 25 us, and few", [] {
        // As far as the kernel slews one clock against the other: a tenth and 500 ppm.
        const bool by_boottime = *rc::gen::arbitrary<bool>();
        const DriftingClock timer{draw_between(0, 1'000 * million), 0};
        const DriftingClock other{draw_between(0, 1'000 * million),
                                  draw_between(-100'500, 111'735)};
        const auto read = [&](std::int64_t real_ns) {
            const Instant now{timer.read(real_ns), other.read(real_ns)};
            return by_boottime ? now : Instant{now.raw_ns, now.boottime_ns};
        };
        const Duration lease{draw_between(1, 10'000 * million)};
        const Instant end = read(0) + lease;
        std::int64_t real_ns = 0;
        int looks = 0;
        for (; lease_valid(read(real_ns), end); ++looks)
            real_ns += lease_wait(read(real_ns), end).ns;
        RC_ASSERT(lease_left(read(real_ns), end).ns >= -25'000);
        RC_ASSERT(looks <= 60);
    }));
}

}  // namespace
}  // namespace bullring::protocol::time_test
