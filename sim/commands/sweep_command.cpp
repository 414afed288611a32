// bullring-sim sweep: many seeds; the first failure is reproduced and shrunk. bullring-sim report:
// the results of several sweeps added.
#include <cstdio>
#include <exception>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "protocol/values/assert.hpp"
#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
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
        const auto count = parse_count(part);
        if (!count)
            throw CLI::ValidationError(
                flag, fmt::format("'{}': two numbers up to 2^63-1, such as 1{}20, are needed", text,
                                  separator));
        return *count;
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
    fmt::print("{} nodes and {} lines are left, in {}:\n\n{}\n",
               shrunk.scenario.settings.ids.size(), shrunk.scenario.commands.size(), path,
               to_text(shrunk.scenario));
    std::fflush(stdout);
    write_file(path, to_text(shrunk.scenario));
}

int judge(const SweepResult& result) {
    fmt::print("{}", summary(result));
    const std::vector<Seen> missing =
        result.violations.empty() ? never_seen(result) : std::vector<Seen>{};
    for (const Seen what : missing)
        fmt::print("never happened, so it was not tested: {}\n", name(what));
    std::fflush(stdout);
    return result.violations.empty() && missing.empty() ? 0 : 1;
}

int sweep_seeds(const SweepFlags& flags) {
    const SweepOptions options = options_of(flags);
    check_writable(flags.json);
    check_writable(flags.shrunk_to);
    const std::string swarm_flags = swarm_flags_text(flags.swarm);
    name_the_seed_on_abort(flags.json, swarm_flags);
    SweepResult result = sweep(options, [](const Progress& progress) {
        const double rate = static_cast<double>(progress.done) / progress.seconds;
        fmt::print(stderr, "{} of {} seeds, {:.0f} a second, {:.0f} s left\n", progress.done,
                   progress.all, rate,
                   rate > 0 ? static_cast<double>(progress.all - progress.done) / rate : 0.0);
    });
    result.shares = {
        {options.seeds, options.shard, options.shards, swarm_flags, !narrows(options.swarm)}};
    for (Found& found : result.violations) found.flags = swarm_flags;
    // Neither a full disk nor a closed stdout may cost both of them.
    std::exception_ptr unwritten;
    try {
        if (!flags.json.empty()) write_file(flags.json, to_json(result));
    } catch (const CLI::FileError&) {
        unwritten = std::current_exception();
    }
    const int status = judge(result);
    if (unwritten) std::rethrow_exception(unwritten);
    if (!result.violations.empty() && !flags.no_shrink)
        shrink_first(flags, options, result.violations.front());
    return status;
}

int report(const std::vector<std::string>& files) {
    SweepResult all;
    for (const std::string& path : files) {
        const std::string text = read_file(path);
        SweepResult one;
        try {
            one = sweep_from_json(text);
        } catch (const std::runtime_error& error) {
            throw CLI::FileError(path + ": " + error.what());
        }
        for (const Share& share : one.shares)
            for (const Share& before : all.shares)
                if (overlap(share, before))
                    throw CLI::ValidationError(
                        "report", fmt::format("'{}': seeds of {}..{} are in another result too; "
                                              "each may be added once",
                                              path, share.seeds.first, share.seeds.last));
        all.add(one);
    }
    return judge(all);
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
