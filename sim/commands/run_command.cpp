// bullring-sim run: one seed, its story told.
#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "sim/commands/commands.hpp"
#include "sim/commands/outcome_text.hpp"
#include "sim/commands/picture.hpp"
#include "sim/commands/swarm_flags.hpp"
#include "sim/commands/timeline.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "sim/swarm/running_seed.hpp"

namespace bullring::sim {

namespace {

struct RunFlags {
    std::uint64_t seed = 1;
    SwarmFlags swarm;
    PictureFlags picture;
    std::string save;
    bool quiet = false;
};

int run_seed(const RunFlags& flags) {
    name_the_seed_on_abort("");
    running_seed = flags.seed;
    const Scenario scenario = draw_scenario(flags.seed, swarm_options(flags.swarm));
    if (!flags.save.empty() && !(std::ofstream(flags.save) << to_text(scenario)).flush())
        throw CLI::FileError("--save " + flags.save + ": can't be written");
    fmt::print("# seed {}\n{}\n", flags.seed, settings_line(scenario.settings));
    Timeline timeline(stdout);
    Picture picture(flags.picture);
    RunOptions options;
    if (!flags.quiet) options.observers.push_back(&timeline);
    picture.watch(options);
    const Outcome outcome = run(scenario, options);
    picture.finish(fmt::format("seed {}", flags.seed));
    fmt::print("{}", outcome_text(outcome));
    return outcome.violation ? 1 : 0;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_status) {
    CLI::App* command =
        app.add_subcommand("run", "one seed: draw a run from it and tell its story");
    auto flags = std::make_shared<RunFlags>();
    command->add_option("--seed", flags->seed, "0 … 2^63-1")->required();
    add_swarm_flags(*command, flags->swarm);
    add_picture_flags(*command, flags->picture);
    command->add_option("--save", flags->save, "write the drawn run as a scenario file");
    command->add_flag("--quiet", flags->quiet, "only the result");
    command->callback([flags, &exit_status] { exit_status = run_seed(*flags); });
}

}  // namespace bullring::sim
