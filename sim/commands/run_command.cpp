// bullring-sim run: prints the run of one seed.
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
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
    std::string seed;
    SwarmFlags swarm;
    PictureFlags picture;
    std::string save;
    bool quiet = false;
};

std::uint64_t seed_of(const std::string& text) {
    const auto seed = parse_count(text);
    if (!seed)
        throw CLI::ValidationError("--seed", fmt::format("'{}': 0 … 2^63-1 is needed", text));
    return *seed;
}

int run_seed(const RunFlags& flags) {
    const std::uint64_t seed = seed_of(flags.seed);
    check_writable(flags.save);
    Picture picture(flags.picture);
    name_the_seed_on_abort("", swarm_flags_text(flags.swarm));
    running_seed = seed;
    const Scenario scenario = draw_scenario(seed, swarm_options(flags.swarm));
    if (!flags.save.empty()) write_file(flags.save, to_text(scenario));
    fmt::print("# seed {}\n{}\n", seed, settings_line(scenario));
    Timeline timeline(stdout);
    RunOptions options;
    if (!flags.quiet) options.observers.push_back(&timeline);
    picture.watch(options);
    const Outcome outcome = run(scenario, options);
    fmt::print("{}", outcome_text(outcome));
    picture.finish(fmt::format("seed {}", seed), outcome);
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
