// Paths as text: what is written is read back, and what is no path is told with its line.
#include <doctest/doctest.h>

#include "sim/explore/path_file.hpp"
#include "sim/explore/replay.hpp"
#include "sim/explore/tell_action.hpp"

namespace bullring::sim::explore::explore_path_test {
namespace {

PathStep step(MoveKind kind, SessionName session, std::string content = "") {
    return {{kind, session}, std::move(content)};
}

Path example() {
    Path path;
    path.options.nodes = 5;
    path.options.algorithm = protocol::Algorithm::ring;
    path.options.profile = protocol::Profile::fast;
    path.options.delay_max = protocol::microseconds(700);
    path.options.preempt = false;
    path.options.preempt_delay = protocol::milliseconds(1500);
    path.start = StartState::cold;
    path.steps = {step(MoveKind::wake, {2, 0, 0}),
                  step(MoveKind::deliver, {2, 0, 1}, "COORDINATOR"),
                  step(MoveKind::answer, {2, 0, 3}, "RST"),
                  step(MoveKind::crash, {1, 0, 0}),
                  step(MoveKind::restart, {1, 0, 0}),
                  step(MoveKind::dial, {1, 4, 2}),
                  step(MoveKind::wait, {}),
                  step(MoveKind::give_up, {0, 1, 1})};
    return path;
}

std::string problem_of(const std::string& text) {
    const auto read = read_path(text);
    const auto* problem = std::get_if<PathProblem>(&read);
    return problem == nullptr ? "" : problem->text;
}

}  // namespace

TEST_CASE("explore path: what is written is read back as the same") {
    const Path path = example();
    const auto read = read_path(path_text(path, "what for\nin two lines"));
    REQUIRE(std::holds_alternative<Path>(read));
    const Path& back = std::get<Path>(read);
    CHECK(back.steps == path.steps);
    CHECK(back.start == path.start);
    CHECK(back.options.nodes == 5);
    CHECK(back.options.algorithm == protocol::Algorithm::ring);
    CHECK(back.options.profile == protocol::Profile::fast);
    CHECK(back.options.delay_max == protocol::microseconds(700));
    CHECK_FALSE(back.options.preempt);
    CHECK(back.options.preempt_delay == protocol::milliseconds(1500));
    CHECK(back.options.faults == 2);
}

TEST_CASE("explore path: every kind of move has a line of its own that is read back") {
    for (const MoveKind kind : protocol::enumerators<MoveKind>()) {
        Path path;
        const SessionName name = has_session(kind) ? SessionName{0, 2, 1} : SessionName{2, 0, 0};
        path.steps = {step(kind, kind == MoveKind::wait ? SessionName{} : name)};
        const auto read = read_path(path_text(path, ""));
        REQUIRE(std::holds_alternative<Path>(read));
        CHECK(std::get<Path>(read).steps == path.steps);
    }
}

TEST_CASE("explore path: whatever a node refuses for, it is told") {
    for (std::uint8_t reason = 1; reason <= 7; ++reason) {
        CAPTURE(reason);
        protocol::Nack nack;
        nack.epoch = {9};
        nack.reason = static_cast<protocol::NackReason>(reason);
        std::vector<std::string> lines;
        tell_action(lines, 0, {}, protocol::Send{session_id({0, 1, 1}, true), nack});
        REQUIRE(lines.size() == 1);
        CHECK(lines.front().starts_with("1 sends NACK to 2 of epoch 9: "));
        CHECK_FALSE(lines.front().ends_with(protocol::no_name));
    }
}

TEST_CASE("explore path: steps read as people would say them") {
    std::string text;
    for (const PathStep& one : example().steps) text += step_text(one) + "\n";
    CHECK(text ==
          "wake 3\ndeliver 3>1 COORDINATOR\nanswer 3>1/3 RST\ncrash 2\nrestart 2\n"
          "dial 2>5/2\nwait\ngive-up 1>2\n");
}

TEST_CASE("explore path: what is no path is told with its line") {
    CHECK(problem_of("nodes 3\n") == "there is no line \"steps\" before the moves");
    CHECK(problem_of("nodes 9\nsteps\n") == "line 1: not an option of a path: nodes 9");
    CHECK(problem_of("# a remark\nnodes 3\ncolour red\nsteps\n") ==
          "line 3: not an option of a path: colour red");
    for (const char* line : {"crush 1", "crash", "crash 0", "crash 8", "crash 1 2", "deliver 1",
                             "deliver 1>1", "deliver 1>2/x", "deliver 1>2 HB HB", "wait 1"}) {
        CAPTURE(line);
        CHECK(problem_of(std::string("steps\n") + line + "\n") ==
              std::string("line 2: not a step: ") + line);
    }
}

TEST_CASE("explore path: a replay says which step cannot be made") {
    SmallWorldOptions options;
    const SmallWorld world(options);
    const WorldState start = world.settled();
    const SessionName last{2, 0, start.hosts[2].dials[0]};  // from 3 to 1
    const PathStep crash = step(MoveKind::crash, {2, 0, 0});
    const PathStep resign = step(MoveKind::deliver, last, "RESIGN");
    const PathStep fin = step(MoveKind::deliver, last, "FIN");
    const Replay wrong = replay(world, start, {step(MoveKind::restart, {0, 0, 0})});
    CHECK(wrong.problem == "step 1, restart 1: this cannot happen here");
    CHECK(replay(world, start, {crash, resign}).problem ==
          "step 2, " + step_text(resign) + ": what comes here is FIN");
    const Replay good = replay(world, start, {crash, fin});
    CHECK(good.problem == "");
    CHECK_FALSE(good.violation.has_value());
    CHECK(good.text.find("2. +    0.000 ms  " + step_text(fin)) != std::string::npos);
}

}  // namespace bullring::sim::explore::explore_path_test
