#include "protocol/values/timing.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "protocol/values/membership.hpp"
#include "protocol/values/names.hpp"

namespace bullring::timing_test {

namespace {

using namespace bullring::protocol;

__extension__ using Wide = unsigned __int128;

constexpr Profile all_profiles[] = {Profile::realtime, Profile::fast, Profile::lan, Profile::cloud,
                                    Profile::wan};
constexpr Algorithm both_algorithms[] = {Algorithm::bully, Algorithm::ring};

Timing profile_timing(Profile profile, std::size_t members = 3,
                      Algorithm algorithm = Algorithm::bully) {
    TimingRequest request;
    request.profile = profile;
    return make_timing(request, members, algorithm);
}

std::vector<std::string> problems_of(const Timing& timing, Algorithm algorithm = Algorithm::bully) {
    return validate(timing, 3, algorithm);
}

/// PROTOCOL R2 as it stands there, in numbers that can't overflow.
std::int64_t dumb_promise(std::int64_t x, std::uint32_t rho_ppm) {
    const Wide numerator = Wide(static_cast<std::uint64_t>(x)) * (1'000'000 + rho_ppm);
    const Wide denominator = 1'000'000 - rho_ppm;
    return static_cast<std::int64_t>((numerator + denominator - 1) / denominator) + 1;
}

}  // namespace

TEST_CASE("timing: the promise is ⌈x·(1+ρ)/(1−ρ)⌉ + 1 ns, exactly") {
    Timing timing = profile_timing(Profile::lan);
    CHECK(timing.promise(Duration{0}) == Duration{1});
    CHECK(timing.promise(Duration{999}) == Duration{1002});
    CHECK(timing.promise(Duration{1000}) == Duration{1004});
    CHECK(timing.promise(milliseconds(500)) == Duration{501'001'003});

    CHECK(rc::check("promise", [&] {
        timing.rho_ppm = *rc::gen::inRange<std::uint32_t>(1, 100'001);
        const auto x = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 10'000'000),
                                       rc::gen::inRange<std::int64_t>(0, 31'536'000'000'000'000));
        RC_ASSERT(timing.promise(Duration{x}).ns == dumb_promise(x, timing.rho_ppm));
    }));
}

TEST_CASE("timing: the longest promise is for ever, never a wrap to a short one") {
    const Timing timing = profile_timing(Profile::lan);
    CHECK(timing.promise(forever) == forever);
    CHECK(timing.promise(Duration{INT64_MAX}) == forever);
    Timing unbounded = timing;
    unbounded.rho_ppm = 1'000'000;
    CHECK(unbounded.promise(seconds(1)) == forever);
}

TEST_CASE("timing: a reservation lasts for a campaign and for three round trips") {
    Timing timing = profile_timing(Profile::lan);
    CHECK(timing.reservation() == milliseconds(100));
    timing.round_trip = milliseconds(40);
    CHECK(timing.reservation() == milliseconds(120));
}

TEST_CASE("timing: the profiles have the values of the protocol's table") {
    const Timing lan = profile_timing(Profile::lan);
    CHECK(lan.heartbeat == milliseconds(50));
    CHECK(lan.suspect_after == milliseconds(200));
    CHECK(lan.lease == milliseconds(500));
    CHECK(lan.campaign_lease == milliseconds(250));
    CHECK(lan.poll_wait == milliseconds(30));
    CHECK(lan.campaign_wait == milliseconds(100));
    CHECK(lan.coordinator_wait == milliseconds(160));
    CHECK(lan.hop_wait == milliseconds(40));
    CHECK(lan.ring_wait == milliseconds(250));
    CHECK(lan.stagger == milliseconds(5));
    CHECK(lan.round_trip == milliseconds(5));
    CHECK(lan.pause == milliseconds(100));
    CHECK(lan.rho_ppm == 1000);
    CHECK(lan.lease_max == seconds(10));
    CHECK(lan.kill_margin == Duration{0});
    CHECK(profile_timing(Profile::realtime).stagger == microseconds(500));
    CHECK(profile_timing(Profile::fast).lease == milliseconds(200));
    CHECK(profile_timing(Profile::cloud).ring_wait == milliseconds(400));
    CHECK(profile_timing(Profile::wan).pause == milliseconds(500));
}

TEST_CASE("timing: a profile is found by its name, and by no other word") {
    for (const Profile profile : all_profiles) CHECK(named<Profile>(name(profile)) == profile);
    CHECK_FALSE(named<Profile>("LAN").has_value());
    CHECK_FALSE(named<Profile>("").has_value());
}

TEST_CASE("timing: every profile is sound for every size of cluster and both algorithms") {
    for (const Profile profile : all_profiles) {
        for (const Algorithm algorithm : both_algorithms) {
            for (std::size_t members = 1; members <= members_max; ++members) {
                CAPTURE(name(profile));
                CAPTURE(members);
                TimingRequest request;
                request.profile = profile;
                request.lease_max = seconds(30);  // a ring of 64 over a WAN needs 19.9 s
                CHECK(
                    validate(make_timing(request, members, algorithm), members, algorithm).empty());
            }
        }
    }
}

TEST_CASE("timing: a ring too long for lease-max is refused with both numbers") {
    const Timing timing = profile_timing(Profile::wan, 64, Algorithm::ring);
    CHECK(validate(timing, 64, Algorithm::ring) ==
          std::vector<std::string>{"lease (19.9s) must be ≤ lease-max (10s)"});
}

TEST_CASE("timing: the waits of a ring grow with its members, and what must outlast them too") {
    CHECK(profile_timing(Profile::lan, 5, Algorithm::ring) == profile_timing(Profile::lan));

    const Timing ring = profile_timing(Profile::lan, 40, Algorithm::ring);
    CHECK(ring.ring_wait == milliseconds(40 + 6 * 39 * 5));
    CHECK(ring.campaign_wait == milliseconds(40 + 3 * 39 * 5));
    CHECK(ring.coordinator_wait == ring.campaign_wait + milliseconds(10));
    CHECK(ring.campaign_lease == ring.campaign_wait + milliseconds(110));
    CHECK(ring.lease == ring.campaign_lease);
    CHECK(ring.heartbeat == milliseconds(50));
    CHECK(profile_timing(Profile::lan, 40, Algorithm::bully) == profile_timing(Profile::lan));

    TimingRequest request;
    request.lease = milliseconds(500);
    const Timing given = make_timing(request, 40, Algorithm::ring);
    CHECK(given.lease == milliseconds(500));
    CHECK(validate(given, 40, Algorithm::ring) ==
          std::vector<std::string>{"campaign lease (735ms) must be ≤ lease (500ms)"});
}

TEST_CASE("timing: of quantities that are guesses nothing is said") {
    Timing timing = profile_timing(Profile::lan);
    timing.heartbeat = milliseconds(100);
    timing.lease = seconds(11);
    const auto problems = [&](const std::vector<std::string_view>& known) {
        return validate(timing, 3, Algorithm::bully, known);
    };
    CHECK(problems({"heartbeat", "suspect-after"}) ==
          std::vector<std::string>{"3 × heartbeat (300ms) must be ≤ suspect-after (200ms)"});
    CHECK(problems({"lease", "lease-max"}) ==
          std::vector<std::string>{"lease (11s) must be ≤ lease-max (10s)"});
    CHECK(problems({"heartbeat", "lease-max"}).empty());
    CHECK(problems({}).empty());
    CHECK(problems_of(timing).size() == 2);
}

TEST_CASE("timing: the first given of lease, heartbeat, suspect-after scales what is not given") {
    TimingRequest request;
    request.lease = seconds(1);
    Timing timing = make_timing(request, 3, Algorithm::bully);
    CHECK(timing.lease == seconds(1));
    CHECK(timing.heartbeat == milliseconds(100));
    CHECK(timing.suspect_after == milliseconds(400));
    CHECK(timing.campaign_lease == milliseconds(500));
    CHECK(timing.campaign_wait == milliseconds(100));  // network times stay
    CHECK(timing.poll_wait == milliseconds(30));

    request.heartbeat = milliseconds(30);
    timing = make_timing(request, 3, Algorithm::bully);
    CHECK(timing.heartbeat == milliseconds(30));
    CHECK(timing.suspect_after == milliseconds(400));

    request.lease.reset();
    timing = make_timing(request, 3, Algorithm::bully);
    CHECK(timing.lease == milliseconds(300));
    CHECK(timing.suspect_after == milliseconds(120));
    CHECK(timing.campaign_lease == milliseconds(150));

    request.heartbeat.reset();
    request.suspect_after = milliseconds(300);
    timing = make_timing(request, 3, Algorithm::bully);
    CHECK(timing.heartbeat == milliseconds(75));
    CHECK(timing.lease == milliseconds(750));
}

TEST_CASE("timing: scaling keeps to the ratio for every nanosecond") {
    CHECK(rc::check("ratio", [] {
        TimingRequest request;
        request.profile = *rc::gen::elementOf(
            std::vector<Profile>(std::begin(all_profiles), std::end(all_profiles)));
        const Timing table = profile_timing(request.profile);
        const auto lease = *rc::gen::inRange<std::int64_t>(0, 31'536'000'000'000'000);
        request.lease = Duration{lease};
        const Timing timing = make_timing(request, 3, Algorithm::bully);
        const auto exact = [&](Duration value) {
            return static_cast<std::int64_t>(Wide(static_cast<std::uint64_t>(lease)) *
                                             static_cast<std::uint64_t>(value.ns) /
                                             static_cast<std::uint64_t>(table.lease.ns));
        };
        RC_ASSERT(timing.heartbeat.ns == exact(table.heartbeat));
        RC_ASSERT(timing.suspect_after.ns == exact(table.suspect_after));
        RC_ASSERT(timing.campaign_lease.ns == exact(table.campaign_lease));
    }));
}

TEST_CASE("timing: every constraint can be broken alone, and is told with its numbers") {
    struct Case {
        std::function<void(Timing&)> break_it;
        const char* told;
    };
    const std::vector<Case> cases{
        {[](Timing& t) { t.heartbeat = microseconds(66'667); },
         "3 × heartbeat (200.001ms) must be ≤ suspect-after (200ms)"},
        {[](Timing& t) { t.suspect_after = milliseconds(500); },
         "suspect-after (500ms) must be < lease (500ms)"},
        {[](Timing& t) { t.campaign_lease = milliseconds(209); },
         "campaign wait + 2 × round trip + pause (210ms) must be ≤ campaign lease (209ms), which "
         "scales with the lease: a longer lease or a faster profile"},
        {[](Timing& t) { t.campaign_lease = milliseconds(501); },
         "campaign lease (501ms) must be ≤ lease (500ms)"},
        {[](Timing& t) { t.lease_max = milliseconds(499); },
         "lease (500ms) must be ≤ lease-max (499ms)"},
        {[](Timing& t) { t.coordinator_wait = milliseconds(109); },
         "campaign wait + 2 × round trip (110ms) must be ≤ coordinator wait (109ms)"},
        {[](Timing& t) { t.ring_wait = milliseconds(69); },
         "hop wait + 6 × round trip (70ms) must be ≤ ring wait (69ms)"},
        {[](Timing& t) { t.poll_wait = milliseconds(9); },
         "2 × round trip (10ms) must be ≤ poll wait (9ms)"},
        {[](Timing& t) { t.stagger = milliseconds(4); },
         "round trip (5ms) must be ≤ stagger (4ms)"},
        {[](Timing& t) { t.rho_ppm = 0; }, "rho (0ppm) must be > 0 and ≤ 100000ppm"},
        {[](Timing& t) { t.rho_ppm = 100'001; }, "rho (100001ppm) must be > 0 and ≤ 100000ppm"},
        {[](Timing& t) { t.kill_margin = milliseconds(300); },
         "kill margin + 2 × heartbeat + pause (500ms) must be < lease (500ms)"},
        {[](Timing& t) { t.heartbeat = Duration{0}; }, "heartbeat (0s) must be more than 0"},
        {[](Timing& t) { t.pause = milliseconds(-1); }, "pause (-1ms) must not be negative"},
        {[](Timing& t) { t.preempt_delay = forever; },
         "preempt-delay (2305843009.213693951s) must be ≤ 144115188.075855871s"},
    };
    CHECK(problems_of(profile_timing(Profile::lan), Algorithm::ring).empty());
    for (const Case& one : cases) {
        Timing timing = profile_timing(Profile::lan);
        one.break_it(timing);
        CHECK(problems_of(timing, Algorithm::ring) == std::vector<std::string>{one.told});
    }
}

TEST_CASE("timing: five heartbeats must fit into a lease") {
    // 3h ≤ T_s < L alone would allow it.
    Timing timing = profile_timing(Profile::lan);
    timing.heartbeat = milliseconds(101);
    timing.suspect_after = milliseconds(400);
    CHECK(problems_of(timing) ==
          std::vector<std::string>{"5 × heartbeat (505ms) must be ≤ lease (500ms)"});
}

TEST_CASE("timing: a bully's hop and ring waits are not its concern") {
    Timing timing = profile_timing(Profile::lan);
    timing.ring_wait = milliseconds(1);
    CHECK(problems_of(timing, Algorithm::bully).empty());
}

TEST_CASE("timing: all broken constraints are told, not only the first") {
    Timing timing = profile_timing(Profile::lan);
    timing.heartbeat = milliseconds(200);
    timing.lease_max = milliseconds(100);
    CHECK(problems_of(timing).size() == 3);
}

TEST_CASE("timing: no number that fits into a duration upsets the arithmetic") {
    CHECK(rc::check("any numbers", [] {
        const auto any = [] {
            return Duration{*rc::gen::oneOf(
                rc::gen::arbitrary<std::int64_t>(),
                rc::gen::element<std::int64_t>(INT64_MIN, INT64_MAX, 0, 1, -1, forever.ns))};
        };
        TimingRequest request;
        request.profile = *rc::gen::elementOf(
            std::vector<Profile>(std::begin(all_profiles), std::end(all_profiles)));
        if (*rc::gen::arbitrary<bool>()) request.lease = any();
        if (*rc::gen::arbitrary<bool>()) request.heartbeat = any();
        request.suspect_after = any();
        request.lease_max = any();
        const Timing timing = make_timing(request, 5, Algorithm::ring);
        const Duration shortest = std::min({timing.lease, timing.heartbeat, timing.suspect_after});
        if (shortest.ns <= 0) RC_ASSERT_FALSE(validate(timing, 5, Algorithm::ring).empty());
        RC_ASSERT(timing.promise(timing.lease) > timing.lease || timing.lease > forever / 16);
    }));
}

}  // namespace bullring::timing_test
