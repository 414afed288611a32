#include "sim/scenario/path_scenario.hpp"

#include <fmt/format.h>

namespace bullring::sim {

void read_move(LineReader& line, Scenario& scenario) {
    using explore::MoveKind;
    Command command;
    command.verb = Verb::move;
    command.relative = true;
    command.line = line.number();
    command.move.kind = line.named<MoveKind>();
    if (command.move.kind != MoveKind::wait) {
        const std::string place(line.word("where"));
        if (!explore::read_place(place, command.move))
            return line.fail(fmt::format("'{}' is no place for '{}'; expected one such as {}",
                                         place, name(command.move.kind),
                                         explore::place_example(command.move.kind)));
    }
    const bool delivers =
        command.move.kind == MoveKind::deliver || command.move.kind == MoveKind::answer;
    if (delivers && !line.done()) command.word = std::string(line.word("what it delivers"));
    line.end();
    if (!line.failed()) scenario.commands.push_back(command);
}

Scenario path_scenario(explore::SmallWorld start, const std::vector<explore::Move>& path,
                       const Violation& end) {
    Scenario scenario;
    scenario.about = {"The shortest path to a violation; bullring-sim scenario --verbose shows it.",
                      end.check + ": " + end.what};
    scenario.settings = start.world.settings();
    for (const explore::Move& move : path) {
        Command& step = scenario.commands.emplace_back();
        step.verb = Verb::move;
        step.relative = true;
        step.move = move;
        step.word = explore::content_name(start.world, move);
        start.make(move);
    }
    return scenario;
}

}  // namespace bullring::sim
