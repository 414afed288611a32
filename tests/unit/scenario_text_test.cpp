// The language of scenario files: what is written parses to the same again.
#include "sim/scenario/scenario_text.hpp"

#include <variant>

#include <doctest/doctest.h>

#include "sim/scenario/duration_text.hpp"
#include "sim/scenario/settings_text.hpp"
#include "sim/swarm/swarm.hpp"

namespace bullring::sim::scenario_text_test {
namespace {

TEST_CASE("durations: each unit, decimals, and the exact form again") {
    for (const auto& [text, ns] : {std::pair{"0s", Time{0}},
                                   {"1ns", 1},
                                   {"200us", 200 * us},
                                   {"1.5ms", 1500 * us},
                                   {"2m", 120 * sec},
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
    for (const char* wrong : {"", "5", "s", "-1s", "1.s", "1 s", "1sec", "2min", "99999999999s"}) {
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

TEST_CASE("scenario: one of both algorithms is the same after it was written and read") {
    const auto parsed = parse_scenario("nodes 3\nalgorithm both\nat 0s start all\n");
    const auto* scenario = std::get_if<Scenario>(&parsed);
    REQUIRE(scenario != nullptr);
    CHECK(std::get<Scenario>(parse_scenario(to_text(*scenario))) == *scenario);
    const std::vector<Scenario> each = each_algorithm(*scenario);
    REQUIRE(each.size() == 2);
    CHECK(each[0].settings.algorithm == protocol::Algorithm::bully);
    CHECK(each[1].settings.algorithm == protocol::Algorithm::ring);
    CHECK(each_algorithm(each[1]) == std::vector<Scenario>{each[1]});
}

TEST_CASE("scenario: a lie is written as it is read, and goes one way") {
    const std::string text = "at 1s lie 1>2 COORDINATOR epoch 9223372036854775807\n";
    const auto parsed = parse_scenario("nodes 3\n" + text);
    REQUIRE(std::holds_alternative<Scenario>(parsed));
    CHECK(to_text(std::get<Scenario>(parsed)).find(text) != std::string::npos);
    for (const char* wrong :
         {"1-2 HB epoch 1", "1>2 OK epoch 1", "1>2 HB colour 1", "1>2 HB epoch"}) {
        CAPTURE(wrong);
        CHECK(std::holds_alternative<ScenarioProblems>(
            parse_scenario("nodes 3\nat 1s lie " + std::string(wrong) + "\n")));
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

TEST_CASE("scenario: what cannot happen in its world is refused, with its line") {
    const auto problems_of = [](const char* text) {
        const auto parsed = parse_scenario(text);
        const auto* problems = std::get_if<ScenarioProblems>(&parsed);
        return problems == nullptr ? ScenarioProblems{} : *problems;
    };
    CHECK(problems_of("nodes 3\nat 0s start all\nat +0s crash 9\n") ==
          ScenarioProblems{"3: there is no node 9; there are 1 2 3"});
    CHECK(problems_of("nodes 3,7\nat 0s cut 3-4\nat 1s graph 3-8\n") ==
          ScenarioProblems{"2: there is no node 4; there are 3 7",
                           "3: there is no node 8; there are 3 7"});
    CHECK(problems_of("nodes 3\nat 5s start all\nat +1s mark\nat 2s crash 3\n") ==
          ScenarioProblems{"4: 'at 2s' is before the line above it, at 6s or later"});
    CHECK(problems_of("# nothing\nnodes 3\n") ==
          ScenarioProblems{"nothing happens: there is no line such as 'at 0s start all'"});
    CHECK(problems_of("nodes 3\nat 0s cut 2-2\nat 0s graph\nat 0s graph 1-1\n") ==
          ScenarioProblems{"2: '2-2' is no link", "4: '1-1' is no link"});
    CHECK(problems_of("nodes 3\nlease-of 9 1s\nat 0s start all\n") ==
          ScenarioProblems{"settings: lease of 9: no member"});
    CHECK(problems_of("nodes 3\nat 0s picture ends\nat 1s picture begins\n") ==
          ScenarioProblems{"3: the picture begins once, and begins before it ends"});
    CHECK(problems_of("nodes 3\nat 0s picture begins\nat 1s picture ends\n").empty());
    CHECK(problems_of("nodes 3\nat 0s expect deposed 3 resignd\n").size() == 1);
    CHECK(problems_of("nodes 3\nat 0s expect deposed 3 resigned\n").empty());
}

TEST_CASE("scenario: settings that contradict each other are refused") {
    const auto parsed = parse_scenario("nodes 3\ndrift 5000\n");
    const auto* problems = std::get_if<ScenarioProblems>(&parsed);
    REQUIRE(problems != nullptr);
    CHECK(problems->front().find("'beyond rho'") != std::string::npos);
}

}  // namespace
}  // namespace bullring::sim::scenario_text_test
