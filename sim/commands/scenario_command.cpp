// bullring-sim scenario: plays scenario files and says which of them keep their word.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
#include "sim/commands/outcome_text.hpp"
#include "sim/commands/picture.hpp"
#include "sim/commands/timeline.hpp"
#include "sim/explore/small_world.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"
#include "sim/scenario/settings_text.hpp"

namespace bullring::sim {

namespace {

struct ScenarioFlags {
    std::vector<std::string> files;
    std::string algorithm;
    PictureFlags picture;
    bool verbose = false;
};

/// A directory stands for the scenarios in it: read as a file it would be empty, and kept.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!std::filesystem::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
            if (entry.path().extension() == ".txt") found.push_back(entry.path().string());
        if (found.empty()) throw CLI::FileError(path + ": no scenario (*.txt) is in it");
        std::sort(found.begin(), found.end());
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

/// The scenario in a file, once for each algorithm.
std::vector<Scenario> read(const std::string& path, const std::string& algorithm) {
    const std::string text = read_file(path);
    auto parsed = parse_scenario(text);
    if (const auto* problems = std::get_if<ScenarioProblems>(&parsed)) {
        constexpr std::size_t told_max = 20;  // of a file that is no scenario at all
        std::string all;
        for (std::size_t i = 0; i < std::min(problems->size(), told_max); ++i)
            all += "\n" + path + ":" + (*problems)[i];
        if (problems->size() > told_max)
            all += fmt::format("\nand {} more", problems->size() - told_max);
        throw CLI::ValidationError("scenario", "can't be understood" + all);
    }
    std::vector<Scenario> scenarios = each_algorithm(std::get<Scenario>(parsed));
    if (scenarios.size() > 1 && !algorithm.empty())
        std::erase_if(scenarios, [&algorithm](const Scenario& one) {
            return name(one.settings.algorithm) != algorithm;
        });
    return scenarios;
}

bool play(const std::string& path, const Scenario& scenario, const ScenarioFlags& flags) {
    if (scenario.settings.by_hand) explore::catch_broken_assertions();
    Timeline timeline(stdout);
    Picture picture(flags.picture);
    RunOptions options;
    if (flags.verbose) options.observers.push_back(&timeline);
    picture.watch(options);
    const Outcome outcome = run(scenario, options);
    if (!outcome.violation) {
        fmt::print("kept    {}  ({}, {:.1f} s simulated, {} elections)\n", path,
                   name(scenario.settings.algorithm), static_cast<double>(outcome.simulated) / 1e9,
                   outcome.elections);
    } else {
        fmt::print("BROKEN  {}{}: {} ({})\n", path,
                   outcome.violated_line == 0 ? "" : fmt::format(":{}", outcome.violated_line),
                   violation_text(*outcome.violation), name(scenario.settings.algorithm));
    }
    picture.finish(scenario.about.empty() ? path : scenario.about.front(), outcome);
    return !outcome.violation;
}

bool play(const std::string& path, const std::vector<Scenario>& scenarios,
          const ScenarioFlags& flags) {
    bool kept = true;
    for (const Scenario& scenario : scenarios) kept = play(path, scenario, flags) && kept;
    return kept;
}

int play_all(const ScenarioFlags& flags) {
    const bool pictures = !flags.picture.trace.empty() || !flags.picture.diagram.empty();
    const std::vector<std::string> files = files_of(flags.files);
    if (pictures && files.size() != 1)
        throw CLI::ValidationError("--trace, --diagram", "go with one scenario at a time");
    std::vector<std::vector<Scenario>> stories;
    stories.reserve(files.size());
    for (const std::string& path : files) stories.push_back(read(path, flags.algorithm));
    if (pictures && stories.front().size() != 1)
        throw CLI::ValidationError("--trace, --diagram",
                                   files.front() + " is of both algorithms: choose --algorithm");
    std::size_t broken = 0;
    for (std::size_t i = 0; i < stories.size(); ++i)
        if (!play(files[i], stories[i], flags)) ++broken;
    fmt::print("{} scenarios, {} broken\n", stories.size(), broken);
    return broken == 0 ? 0 : 1;
}

}  // namespace

void add_scenario_command(CLI::App& app, int& exit_status) {
    CLI::App* command = app.add_subcommand("scenario", "play scenario files");
    auto flags = std::make_shared<ScenarioFlags>();
    command->add_option("FILE", flags->files, "scenario files, or directories of *.txt")
        ->required();
    command
        ->add_option("--algorithm", flags->algorithm,
                     "bully or ring: play those of both algorithms with this one alone")
        ->check(is_name_of<protocol::Algorithm>());
    command->add_flag("--verbose", flags->verbose, "tell what happens");
    add_picture_flags(*command, flags->picture);
    command->callback([flags, &exit_status] { exit_status = play_all(*flags); });
}

}  // namespace bullring::sim
