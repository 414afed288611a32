// The simulated world: its clocks, its TCP, and that a seed is a history.
#include <doctest/doctest.h>

#include "sim/check/ledger.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "sim/swarm/shrink.hpp"
#include "sim/swarm/swarm.hpp"

namespace bullring::sim::simulated_world_test {
namespace {

Scenario scenario(const std::string& text) { return std::get<Scenario>(parse_scenario(text)); }

TEST_CASE("host clock: rates, suspend and reboot") {
    HostClock clock({100 * sec, 300 * sec}, {1000, -1000});
    CHECK(clock.read(sec) == Instant{101 * sec + ms, 301 * sec - ms});
    clock.set_suspended(sec, true);
    CHECK(clock.read(2 * sec) == Instant{102 * sec + 2 * ms, 301 * sec - ms});
    clock.set_suspended(2 * sec, false);
    const Instant before = clock.unbroken(3 * sec);
    clock.reboot(3 * sec);
    CHECK(clock.read(3 * sec).boottime_ns == sec);
    CHECK(clock.unbroken(3 * sec) == before);
    CHECK(clock.unbroken(clock.read(4 * sec)) == clock.unbroken(4 * sec));
}

TEST_CASE("host clock: a timer is never early by the clock it was set by") {
    protocol::Rng rng(7);
    for (int i = 0; i < 1000; ++i) {
        const auto ppm = static_cast<std::int64_t>(rng.below(400'001)) - 200'000;
        const HostClock clock({0, 0}, {ppm, 0});
        const Duration wait{static_cast<std::int64_t>(rng.below(20 * sec)) + 1};
        CAPTURE(ppm);
        CAPTURE(wait.ns);
        CHECK(clock.read(clock.real(wait)).boottime_ns >= wait.ns);
        CHECK(clock.real(wait) <= wait.ns * 5 / 4 + 2);
    }
}

TEST_CASE("ledger: its P(x) is the protocol's, though written a second time") {
    protocol::Rng rng(8);
    for (int i = 0; i < 1000; ++i) {
        protocol::Timing timing;
        timing.rho_ppm = 1 + static_cast<std::uint32_t>(rng.below(100'000));
        const Duration lease{static_cast<std::int64_t>(rng.below(20 * sec))};
        CAPTURE(timing.rho_ppm);
        CAPTURE(lease.ns);
        CHECK(Ledger::promise(lease, timing.rho_ppm) == timing.promise(lease));
    }
}

TEST_CASE("run: the same seed gives the same history, another seed another") {
    const Outcome one = run(draw_scenario(5));
    const Outcome again = run(draw_scenario(5));
    CHECK(one.digest == again.digest);
    CHECK(one.coverage == again.coverage);
    CHECK(one.digest != run(draw_scenario(6)).digest);
}

TEST_CASE("run: an assumption that is broken without being marked is noticed") {
    // Both clocks of the leader run a fifth too slow while it stands still: it believes its lease
    // is valid when the others' promises are over.
    const Outcome outcome =
        run(scenario("nodes 3\nprofile lan\npreempt off\nat 0s start all\n"
                     "at +0s expect leader 3 within 5s\nat +1s rates 3 -400000 "
                     "-400000\nat +0s pause 3\nat +600ms resume 3\n"
                     "at +2s wait 0s\n"));
    REQUIRE(outcome.violation);
    CHECK(outcome.violation->check == "I6");
}

TEST_CASE("shrink: what is left fails in the same way, and is small") {
    const Scenario failing = scenario(
        "nodes 5\nat 0s start all\nat 1s crash 1\nat 2s start 1\nat 3s cut 2-3\nat 4s heal all\n"
        "at 5s pause 2\nat 6s resume 2\nat 7s crash 3\nat 7s crash 4\nat 7s crash 5\nat 9s expect "
        "leader\n");
    const Shrunk shrunk = shrink(failing, "L1");
    CHECK(shrunk.scenario.commands.size() <= 3);
    CHECK(shrunk.scenario.settings.ids.size() == 1);
    const Outcome outcome = run(shrunk.scenario);
    REQUIRE(outcome.violation);
    CHECK(outcome.violation->check == "L1");
}

}  // namespace
}  // namespace bullring::sim::simulated_world_test
