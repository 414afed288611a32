#include "sim/explore/replay.hpp"

#include <fmt/format.h>

namespace bullring::sim::explore {

namespace {

std::string milliseconds_text(RealTime time) {
    return fmt::format("{}.{:03}", time / 1'000'000, time / 1'000 % 1'000);
}

std::string leader_text(const WorldState& state) {
    for (std::size_t i = 0; i < state.hosts.size(); ++i)
        if (leads(state, i))
            return fmt::format("{} leads with epoch {}", i + 1,
                               state.hosts[i].published.epoch.value);
    return "nobody leads";
}

/// Why the step cannot be made here; "" if it can.
std::string obstacle(const SmallWorld& world, const WorldState& state, const PathStep& step) {
    if (!world.possible(state, step.move)) return "this cannot happen here";
    const std::string content = world.content_name(state, step.move);
    if (!step.content.empty() && step.content != content)
        return fmt::format("what comes here is {}", content);
    return "";
}

}  // namespace

Replay replay(const SmallWorld& world, const WorldState& start,
              const std::vector<PathStep>& steps) {
    Replay replay;
    WorldState state = start;
    replay.text = fmt::format("     +{:>9} ms  {}\n", "0.000", leader_text(state));
    replay.violation = world.check(state);
    std::size_t number = 0;
    for (const PathStep& step : steps) {
        if (replay.violation) break;
        ++number;
        replay.problem = obstacle(world, state, step);
        if (!replay.problem.empty()) {
            replay.problem =
                fmt::format("step {}, {}: {}", number, step_text(step), replay.problem);
            return replay;
        }
        PathStep named = step;
        named.content = world.content_name(state, step.move);
        std::vector<std::string> told;
        replay.violation = world.make(state, step.move, &told);
        replay.text += fmt::format("{:>3}. +{:>9} ms  {}\n", number,
                                   milliseconds_text(state.now - start.now), step_text(named));
        for (const std::string& line : told) replay.text += fmt::format("{:24}{}\n", "", line);
    }
    if (replay.violation)
        replay.text += fmt::format("{}: {}\n", replay.violation->rule, replay.violation->text);
    return replay;
}

std::vector<PathStep> named_steps(const SmallWorld& world, const WorldState& start,
                                  const std::vector<Move>& moves) {
    std::vector<PathStep> steps;
    WorldState state = start;
    for (const Move& move : moves) {
        steps.push_back({move, world.content_name(state, move)});
        world.make(state, move);
    }
    return steps;
}

}  // namespace bullring::sim::explore
