// Paths as scenarios: what is written is read back, and what is no move is told with its line.
#include <doctest/doctest.h>

#include "sim/explore/small_world.hpp"
#include "sim/scenario/path_scenario.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"

namespace bullring::sim::explore::explore_path_test {
namespace {

const std::string head = "nodes 3\nby-hand settled\n";

std::string problem_of(const std::string& text) {
    const auto read = parse_scenario(text);
    const auto* problems = std::get_if<ScenarioProblems>(&read);
    return problems == nullptr ? "" : problems->front();
}

std::optional<Violation> violation_of(const std::string& moves) {
    const auto read = parse_scenario(head + moves);
    REQUIRE(std::holds_alternative<Scenario>(read));
    return run(std::get<Scenario>(read)).violation;
}

}  // namespace

TEST_CASE("explore path: every kind of move has a line of its own that is read back") {
    Scenario path;
    path.settings.by_hand = Begin::cold;
    for (const MoveKind kind : protocol::enumerators<MoveKind>()) {
        Command& command = path.commands.emplace_back();
        command.verb = Verb::move;
        command.relative = true;
        command.move.kind = kind;
        if (kind != MoveKind::wait) command.move.node = 2;
        if (has_other(kind)) command.move.other = 1;
        if (has_connection(kind)) command.move.connection = 299;
        if (kind == MoveKind::deliver) command.word = "COORDINATOR";
    }
    const auto read = parse_scenario(to_text(path));
    REQUIRE(std::holds_alternative<Scenario>(read));
    CHECK(std::get<Scenario>(read) == path);
    CHECK(to_text(path.commands.front()) == "move deliver 3>2/300 COORDINATOR");
}

TEST_CASE("explore path: what is no move is told with its line") {
    for (const char* line :
         {"crush 1", "crash", "crash 0", "crash 300", "crash 1 2", "crash 1>2", "deliver 1",
          "deliver 1>2", "deliver 1>2/", "deliver 1>2/x", "deliver 1>2/1 HB HB", "wait 1"}) {
        CAPTURE(line);
        CHECK(problem_of(head + "move " + line + "\n").starts_with("3: "));
    }
    CHECK(problem_of(head + "move cut 3\n") ==
          "3: '3' is no place for 'cut'; expected one such as 3>1/5");
    CHECK(problem_of(head + "at 0s move crash 1\n") ==
          "3: a move has no time; write it without 'at'");
    CHECK(problem_of("move wait\n") == "1: moves go with 'by-hand', and nothing else does");
    CHECK(problem_of(head + "at 1s crash 1\n").starts_with("3: moves go with 'by-hand'"));
    CHECK(problem_of("nodes 1,3\nby-hand cold\nmove wait\n").starts_with("settings: by-hand: "));
}

TEST_CASE("explore path: a move that cannot be made breaks its scenario") {
    const auto what = [](const std::string& moves) { return violation_of(moves)->what; };
    CHECK(what("move restart 1\n") == "'move restart 1', but it cannot happen here");
    CHECK(what("move crash 9\n") == "'move crash 9', but it cannot happen here");

    Settings settings;
    settings.by_hand = Begin::settled;
    SmallWorld small(settings, FaultKinds::usual(), 1);
    small.make(move_of(MoveKind::crash, 2));
    std::vector<Move> moves;
    small.find_moves(moves);
    const Move fin = moves.front();
    REQUIRE(content_name(small.world, fin) == "FIN");
    CHECK(what("move crash 3\nmove " + to_text(fin) + " RESIGN\n") ==
          "'move " + to_text(fin) + " RESIGN', but what comes here is FIN");
    CHECK_FALSE(violation_of("move crash 3\nmove " + to_text(fin) + " FIN\n").has_value());
}

TEST_CASE("explore path: a path is written with what it delivers") {
    Settings settings;
    settings.by_hand = Begin::settled;
    const SmallWorld start(settings, FaultKinds::usual(), 1);
    SmallWorld at = start;
    std::vector<Move> path{move_of(MoveKind::crash, 2)};
    at.make(path.front());
    std::vector<Move> moves;
    at.find_moves(moves);
    path.push_back(moves.front());
    const Scenario scenario = path_scenario(start, path, Violation{"I1", "two lead"});
    REQUIRE(scenario.commands.size() == 2);
    CHECK(scenario.commands.back().word == "FIN");
    CHECK(scenario.about.back() == "I1: two lead");
    CHECK_FALSE(run(scenario).violation.has_value());
}

}  // namespace bullring::sim::explore::explore_path_test
