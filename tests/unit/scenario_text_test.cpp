// The language of scenario files: what is written parses to the same again.
#include "sim/scenario/scenario_text.hpp"

#include <variant>

#include <doctest/doctest.h>

#include "sim/scenario/duration_text.hpp"
#include "sim/swarm/swarm.hpp"

namespace bullring::sim::scenario_text_test {
namespace {

TEST_CASE("durations: each unit, decimals, and the exact form again") {
    for (const auto& [text, ns] : {std::pair{"0s", Time{0}},
                                   {"1ns", 1},
                                   {"200us", 200 * us},
                                   {"1.5ms", 1500 * us},
                                   {"2min", 120 * sec},
                                   {"1h", 3600 * sec},
                                   {"1.000000001s", sec + 1},
                                   {"29.199002155s", 29'199'002'155},
                                   {"1.050001ms", 1'050'001}}) {
        CAPTURE(text);
        CHECK(parse_duration(text) == ns);
        CHECK(parse_duration(duration_text(ns)) == ns);
    }
    CHECK(duration_text(1500 * us) == "1.5ms");
    CHECK(duration_text(1'923'677'539) == "1.923677539s");
    CHECK(duration_text(1'050'001) == "1.050001ms");
    CHECK(duration_text(60 * sec) == "60s");
    for (const char* wrong : {"", "5", "s", "-1s", "1.s", "1 s", "1sec", "99999999999s"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_duration(wrong));
    }
}

TEST_CASE("durations: for people three decimals are enough") {
    CHECK(rounded_text(0) == "0s");
    CHECK(rounded_text(7) == "7ns");
    CHECK(rounded_text(1'234) == "1.234us");
    CHECK(rounded_text(501'002'003) == "501.002ms");
    CHECK(rounded_text(1'923'677'539) == "1.924s");
    CHECK(rounded_text(29'199'002'155) == "29.199s");
    CHECK(rounded_text(999'999'999) == "1s");
}

TEST_CASE("scenario: whatever a seed draws is the same after it was written and read") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        const Scenario drawn = draw_scenario(seed);
        const auto parsed = parse_scenario(to_text(drawn));
        const auto* problems = std::get_if<ScenarioProblems>(&parsed);
        if (problems != nullptr) FAIL(problems->front());
        CHECK(std::get<Scenario>(parsed) == drawn);
    }
}

TEST_CASE("scenario: all problems are told at once, each with its line and what would be right") {
    const auto parsed = parse_scenario(
        "nodes 0\n"
        "drift 5000\n"
        "# a comment\n"
        "at 1s cut 1+2\n"
        "at +1s expect leader 2 within soon\n"
        "at 2s pause 1 for ever\n");
    const auto* problems = std::get_if<ScenarioProblems>(&parsed);
    REQUIRE(problems != nullptr);
    REQUIRE(problems->size() == 4);
    CHECK((*problems)[0] == "1: nodes '0': a number from 1 to 64 or ids such as 3,7,9 are needed");
    CHECK((*problems)[1] == "4: '1+2': a link such as 1-2 (both ways) or 1>2 (one way) is needed");
    CHECK((*problems)[2] ==
          "5: within what time 'soon': a duration such as 200us or 1.5s is needed");
    CHECK((*problems)[3] == "6: 'for ever' is too much");
}

TEST_CASE("scenario: settings that contradict each other are refused") {
    const auto parsed = parse_scenario("nodes 3\ndrift 5000\n");
    const auto* problems = std::get_if<ScenarioProblems>(&parsed);
    REQUIRE(problems != nullptr);
    CHECK(problems->front().find("'beyond rho'") != std::string::npos);
}

}  // namespace
}  // namespace bullring::sim::scenario_text_test
