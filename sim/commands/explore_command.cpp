// bullring-sim explore: every interleaving of a small cluster within bounds.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/values/algorithms.hpp"
#include "sim/commands/commands.hpp"
#include "sim/commands/files.hpp"
#include "sim/commands/timeline.hpp"
#include "sim/explore/search.hpp"
#include "sim/scenario/duration_text.hpp"
#include "sim/scenario/path_scenario.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/scenario/scenario_text.hpp"

namespace bullring::sim {

using namespace explore;

using namespace protocol;

namespace {

constexpr int found_something = 1;
constexpr std::size_t gibibyte = std::size_t{1} << 30U;

struct ExploreOptions {
    std::size_t nodes = 3;
    std::string algorithm = "bully";
    std::string profile = "lan";
    std::string start = "settled";
    unsigned faults = 2;
    std::vector<std::string> fault_kinds;
    std::string delay_max = "2ms";
    std::string preempt;
    std::string preempt_delay = "10s";
    std::optional<unsigned> depth;
    std::size_t states_max = 2'000'000;
    std::string time_limit = "5m";
    std::size_t memory_max_gib = 8;
    unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
    std::string json;
    std::string counterexample;
};

Duration duration_of(const char* flag, const std::string& text) {
    const auto time = parse_duration(text);
    if (!time)
        throw CLI::ValidationError(flag, "a duration has a unit: 200us, 2ms, 5m; not " + text);
    return {*time};
}

FaultKinds fault_kinds_in(const std::vector<std::string>& words) {
    if (words.empty()) return FaultKinds::usual();
    FaultKinds kinds;
    for (const std::string& word : words) kinds.insert(*named<MoveKind>(word));
    return kinds;
}

std::vector<std::string> fault_words() {
    std::vector<std::string> words;
    for (const MoveKind kind : enumerators<MoveKind>())
        if (is_fault(kind)) words.emplace_back(name(kind));
    return words;
}

std::vector<std::string> usual_fault_words() {
    std::vector<std::string> words;
    for (const MoveKind kind : enumerators<MoveKind>())
        if (FaultKinds::usual().contains(kind)) words.emplace_back(name(kind));
    return words;
}

Settings settings_of(const ExploreOptions& given) {
    Settings settings;
    settings.ids.clear();
    for (std::size_t i = 0; i < given.nodes; ++i) settings.ids.push_back({i + 1});
    settings.algorithm = *named<Algorithm>(given.algorithm);
    settings.profile = *named<Profile>(given.profile);
    settings.by_hand = named<Begin>(given.start);
    settings.delay = {0, duration_of("--delay-max", given.delay_max).ns};
    if (!given.preempt.empty()) settings.preempt = given.preempt == "on";
    settings.preempt_delay = duration_of("--preempt-delay", given.preempt_delay);
    settings.first_epoch = FirstEpoch::zero;  // 1, 2, 3: paths are read by people
    if (fault_kinds_in(given.fault_kinds).contains(MoveKind::greet))
        settings.neighbours = settings.ids;
    return settings;
}

SearchBounds bounds(const ExploreOptions& given) {
    SearchBounds bounds;
    bounds.depth_max = given.depth.value_or(UINT32_MAX);
    bounds.states_max = given.states_max;
    bounds.time_max = std::chrono::nanoseconds(duration_of("--time-limit", given.time_limit).ns);
    bounds.memory_max = given.memory_max_gib * gibibyte;
    bounds.jobs = given.jobs;
    return bounds;
}

const char* words_for(SearchEnd end) {
    switch (end) {
        case SearchEnd::complete: return "complete: there are no more states";
        case SearchEnd::violation: return "ended by a violation";
        case SearchEnd::depth: return "cut by --depth";
        case SearchEnd::states: return "cut by --states-max";
        case SearchEnd::time: return "cut by --time-limit";
        case SearchEnd::memory: return "cut by --memory-max";
    }
    return no_name;
}

double per_second(const SearchReport& report) {
    return report.seconds > 0 ? static_cast<double>(report.states) / report.seconds : 0;
}

void print_report(const ExploreOptions& given, const SearchReport& report) {
    const std::string kinds = given.fault_kinds.empty()
                                  ? std::string("every kind, no changes of the list")
                                  : fmt::format("{}", fmt::join(given.fault_kinds, ", "));
    fmt::print("{} of {} nodes, profile {}, {} start; at most {} faults ({}), delays to {}\n",
               given.algorithm, given.nodes, given.profile, given.start, given.faults, kinds,
               given.delay_max);
    fmt::print("states       {:>12}\n", report.states);
    fmt::print("transitions  {:>12}\n", report.transitions);
    fmt::print("duplicates   {:>12}\n", report.duplicates);
    fmt::print("depth        {:>12}  {}\n", report.depth, words_for(report.end));
    fmt::print("speed        {:>12.0f}  states a second, {:.1f} s\n", per_second(report),
               report.seconds);
    fmt::print("memory       {:>12.2f}  GiB\n",
               static_cast<double>(report.memory) / static_cast<double>(gibibyte));
}

std::string json_text(const ExploreOptions& given, const Settings& settings,
                      const SearchReport& report, const std::vector<std::string>& path) {
    nlohmann::ordered_json json;
    json["algorithm"] = given.algorithm;
    json["nodes"] = given.nodes;
    json["profile"] = given.profile;
    json["start"] = given.start;
    json["faults"] = given.faults;
    json["fault_kinds"] = given.fault_kinds.empty() ? usual_fault_words() : given.fault_kinds;
    json["delay_max_ns"] = settings.delay.max;
    json["preempt"] = config_of(settings, settings.ids.front()).preempt;
    json["preempt_delay_ns"] = settings.preempt_delay.ns;
    json["states"] = report.states;
    json["transitions"] = report.transitions;
    json["duplicates"] = report.duplicates;
    json["depth"] = report.depth;
    json["layers"] = report.layers;
    json["complete"] = report.end == SearchEnd::complete;
    json["end"] = words_for(report.end);
    json["seconds"] = report.seconds;
    json["states_per_second"] = per_second(report);
    json["memory_bytes"] = report.memory;
    if (report.violation) {
        json["violation"]["rule"] = report.violation->check;
        json["violation"]["text"] = report.violation->what;
        json["violation"]["path"] = path;
    }
    return json.dump(2) + "\n";
}

int run_search(const ExploreOptions& given) {
    catch_broken_assertions();
    check_writable(given.json);
    check_writable(given.counterexample);
    const SmallWorld start(settings_of(given), fault_kinds_in(given.fault_kinds), given.faults);
    const SearchReport report = search(start, bounds(given), [](const SearchReport& so_far) {
        fmt::print(stderr, "depth {:>4}: {:>10} states, {:.0f} a second\n", so_far.depth,
                   so_far.states, per_second(so_far));
    });
    print_report(given, report);
    const Scenario path = path_scenario(start, report.path, report.violation.value_or(Violation{}));
    std::vector<std::string> steps;
    steps.reserve(path.commands.size());
    for (const Command& step : path.commands) steps.push_back(to_text(step));
    if (!given.json.empty()) write_file(given.json, json_text(given, path.settings, report, steps));
    if (!report.violation) return 0;
    fmt::print("\nThe shortest path to a violation:\n");
    Timeline timeline(stdout);
    run(path, {.observers = {&timeline}});
    fmt::print("{}: {}\n", report.violation->check, report.violation->what);
    if (!given.counterexample.empty()) write_file(given.counterexample, to_text(path));
    return found_something;
}

}  // namespace

void add_explore_command(CLI::App& app, int& exit_status) {
    const auto given = std::make_shared<ExploreOptions>();
    CLI::App& explore = *app.add_subcommand(
        "explore", "search every interleaving of a small cluster, within bounds");
    explore.add_option("--nodes", given->nodes, "members of the cluster")
        ->check(CLI::Range(std::size_t{1}, small_world_nodes_max))
        ->capture_default_str();
    explore.add_option("--algorithm", given->algorithm, "bully or ring")
        ->check(is_name_of<Algorithm>())
        ->capture_default_str();
    explore.add_option("--profile", given->profile, "the timing")
        ->check(is_name_of<Profile>())
        ->capture_default_str();
    explore.add_option("--start", given->start, "cold: all just started; settled: a quiet leader")
        ->check(is_name_of<Begin>())
        ->capture_default_str();
    explore.add_option("--faults", given->faults, "at most so many, together")
        ->capture_default_str();
    explore
        .add_option("--fault-kinds", given->fault_kinds,
                    fmt::format("of these: {} (default: all but changes of the list, which are "
                                "add, remove, promote, demote, and greet, by another cluster)",
                                fmt::join(fault_words(), ",")))
        ->delimiter(',')
        ->check(CLI::IsMember(fault_words()));
    explore
        .add_option("--delay-max", given->delay_max,
                    "nothing is in flight for longer, unless its receiver is paused")
        ->capture_default_str();
    explore.add_option("--preempt", given->preempt, "on or off (default: on for bully alone)")
        ->check(CLI::IsMember({"on", "off"}));
    explore
        .add_option("--preempt-delay", given->preempt_delay,
                    "a short one brings preemption within reach")
        ->capture_default_str();
    explore.add_option("--depth", given->depth, "at most so many moves from the start");
    explore.add_option("--states-max", given->states_max, "stop after so many distinct states")
        ->capture_default_str();
    explore.add_option("--time-limit", given->time_limit, "stop after this")->capture_default_str();
    explore.add_option("--memory-max", given->memory_max_gib, "stop when so many GiB are used")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20U))
        ->capture_default_str();
    explore.add_option("--jobs", given->jobs, "threads; the outcome does not depend on them")
        ->check(CLI::Range(1U, 256U))
        ->capture_default_str();
    explore.add_option("--json", given->json, "write the outcome to this file");
    explore.add_option("--counterexample", given->counterexample,
                       "write the shortest path to a violation to this file, for `scenario`");
    explore.callback([given, &exit_status] { exit_status = run_search(*given); });
}

}  // namespace bullring::sim
