// bullring-sim sweep: many seeds; the first failure is reproduced and shrunk. bullring-sim report:
// the results of several sweeps added.
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "protocol/assert.hpp"
#include "sim/commands/commands.hpp"
#include "sim/commands/outcome_text.hpp"
#include "sim/commands/swarm_flags.hpp"
#include "sim/commands/sweep_json.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "sim/swarm/running_seed.hpp"
#include "sim/swarm/shrink.hpp"

namespace bullring::sim {

namespace {

struct SweepFlags {
    std::string seeds;
    std::string shard = "0/1";
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
    bool stop_at_first = false;
    bool no_shrink = false;
    std::string json;
    std::string shrunk_to;
    SwarmFlags swarm;
};

std::pair<std::uint64_t, std::uint64_t> pair_of(const char* flag, const std::string& text,
                                                const std::string& separator) {
    const std::size_t at = text.find(separator);
    const auto number = [&](const std::string& part) -> std::uint64_t {
        if (part.empty() || part.size() > 18 ||
            part.find_first_not_of("0123456789") != std::string::npos)
            throw CLI::ValidationError(
                flag, fmt::format("'{}': two numbers such as 1{}20 are needed", text, separator));
        return std::stoull(part);
    };
    if (at == std::string::npos) return {number(text), number(text)};
    return {number(text.substr(0, at)), number(text.substr(at + separator.size()))};
}

SweepOptions options_of(const SweepFlags& flags) {
    SweepOptions options;
    std::tie(options.seeds.first, options.seeds.last) = pair_of("--seeds", flags.seeds, "..");
    if (options.seeds.first > options.seeds.last)
        throw CLI::ValidationError("--seeds",
                                   fmt::format("'{}': the first is above the last", flags.seeds));
    std::tie(options.shard, options.shards) = pair_of("--shard", flags.shard, "/");
    if (options.shards == 0 || options.shard >= options.shards)
        throw CLI::ValidationError(
            "--shard", fmt::format("'{}': I/N with I from 0 to N-1 is needed", flags.shard));
    options.jobs = flags.jobs;
    options.stop_at_first = flags.stop_at_first;
    options.swarm = swarm_options(flags.swarm);
    return options;
}

void write_or_throw(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw CLI::FileError(path + ": can't be written");
}

void shrink_first(const SweepFlags& flags, const SweepOptions& options, const Found& first) {
    if (first.violation.check == "replay") return;
    fmt::print("seed {} is being cut down …\n", first.seed);
    Shrunk shrunk = shrink(draw_scenario(first.seed, options.swarm), first.violation.check);
    const Outcome outcome = run(shrunk.scenario);
    if (!outcome.violation) return;
    const std::string path =
        flags.shrunk_to.empty() ? fmt::format("seed-{}.txt", first.seed) : flags.shrunk_to;
    shrunk.scenario.about = {
        fmt::format("Cut down from seed {} in {} runs.", first.seed, shrunk.runs),
        violation_text(*outcome.violation)};
    write_or_throw(path, to_text(shrunk.scenario));
    fmt::print("{} nodes and {} lines are left, in {}:\n\n{}\n",
               shrunk.scenario.settings.ids.size(), shrunk.scenario.commands.size(), path,
               to_text(shrunk.scenario));
}

int sweep_seeds(const SweepFlags& flags) {
    const SweepOptions options = options_of(flags);
    name_the_seed_on_abort(flags.json);
    const SweepResult result = sweep(options, [](const Progress& progress) {
        const double rate = static_cast<double>(progress.done) / progress.seconds;
        fmt::print(stderr, "{} of {} seeds, {:.0f} a second, {:.0f} s left\n", progress.done,
                   progress.all, rate,
                   rate > 0 ? static_cast<double>(progress.all - progress.done) / rate : 0.0);
    });
    if (!flags.json.empty()) write_or_throw(flags.json, to_json(result));
    fmt::print("{}",
               summary(result, "bullring-sim run" + swarm_flags_text(flags.swarm) + " --seed "));
    std::fflush(stdout);
    if (!result.violations.empty()) {
        if (!flags.no_shrink) shrink_first(flags, options, result.violations.front());
        return 1;
    }
    const std::vector<Seen> missing =
        options.stop_at_first ? std::vector<Seen>{} : never_seen(result, options.swarm);
    for (const Seen what : missing)
        fmt::print("never happened, so it was not tested: {}\n", name(what));
    return missing.empty() ? 0 : 1;
}

int report(const std::vector<std::string>& files) {
    SweepResult all;
    for (const std::string& path : files) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw CLI::FileError(path + ": can't be read");
        std::ostringstream text;
        text << file.rdbuf();
        try {
            all.add(sweep_from_json(text.str()));
        } catch (const std::runtime_error& error) {
            throw CLI::FileError(path + ": " + error.what());
        }
    }
    fmt::print("{}", summary(all, "bullring-sim run --seed "));
    const std::vector<Seen> missing = never_seen(all, {});
    for (const Seen what : missing)
        fmt::print("never happened, so it was not tested: {}\n", name(what));
    return all.violations.empty() && missing.empty() ? 0 : 1;
}

}  // namespace

void add_sweep_command(CLI::App& app, int& exit_status) {
    CLI::App* command = app.add_subcommand("sweep", "many seeds, on all cores");
    auto flags = std::make_shared<SweepFlags>();
    command->add_option("--seeds", flags->seeds, "FIRST..LAST")->required();
    command->add_option("--jobs", flags->jobs, "threads (default: one a core)")
        ->check(CLI::Range(1U, 1024U));
    command->add_option("--shard", flags->shard,
                        "I/N: only every N-th seed, so that N machines share the work");
    command->add_flag("--stop-at-first", flags->stop_at_first, "stop at the first failure");
    command->add_flag("--no-shrink", flags->no_shrink, "do not cut the first failure down");
    command->add_option("--shrunk-to", flags->shrunk_to,
                        "where the cut-down scenario goes (default: seed-N.txt)");
    command->add_option("--json", flags->json, "write the result there, for `report`");
    add_swarm_flags(*command, flags->swarm);
    command->callback([flags, &exit_status] { exit_status = sweep_seeds(*flags); });
}

void add_report_command(CLI::App& app, int& exit_status) {
    CLI::App* command = app.add_subcommand("report", "add the results (--json) of several sweeps");
    auto files = std::make_shared<std::vector<std::string>>();
    command->add_option("FILE", *files, "results of sweeps")->required();
    command->callback([files, &exit_status] { exit_status = report(*files); });
}

}  // namespace bullring::sim
