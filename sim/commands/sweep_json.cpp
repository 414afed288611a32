#include "sim/commands/sweep_json.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/commands/outcome_text.hpp"
#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

using Json = nlohmann::ordered_json;

std::string to_json(const SweepResult& result) {
    Json json;
    json["seeds"] = result.seeds;
    json["twice"] = result.twice;
    json["steps"] = result.steps;
    json["delivered"] = result.delivered;
    json["elections"] = result.elections;
    json["simulated_ns"] = result.simulated;
    json["cpu_ns"] = result.cpu_ns;
    json["digest"] = fmt::format("{:016x}", result.digest);
    json["violations"] = Json::array();
    for (const Found& found : result.violations)
        json["violations"].push_back({{"seed", found.seed},
                                      {"check", found.violation.check},
                                      {"what", found.violation.what},
                                      {"at_ns", found.violation.at},
                                      {"step", found.violation.step}});
    for (std::size_t i = 0; i < seen_count; ++i) {
        const auto what = static_cast<Seen>(i);
        json["coverage"][std::string(name(what))] = result.coverage.of(what);
    }
    json["waited"] = Json::object();
    for (const auto& [check, durations] : result.waited) {
        Json& one = json["waited"][check];
        one["max_ns"] = durations.max();
        one["nearest_percent"] = durations.nearest_percent();
        one["classes"] = Json::array();
        for (const auto& [at, times] : durations.classes()) one["classes"].push_back({at, times});
    }
    return json.dump(2) + "\n";
}

SweepResult sweep_from_json(const std::string& text) {
    try {
        const Json json = Json::parse(text);
        SweepResult result;
        result.seeds = json.at("seeds");
        result.twice = json.value("twice", 0U);
        result.steps = json.value("steps", std::uint64_t{0});
        result.delivered = json.value("delivered", std::uint64_t{0});
        result.elections = json.value("elections", std::uint64_t{0});
        result.simulated = json.value("simulated_ns", Time{0});
        result.cpu_ns = json.value("cpu_ns", std::int64_t{0});
        result.digest = std::stoull(json.value("digest", std::string("0")), nullptr, 16);
        for (const Json& one : json.at("violations"))
            result.violations.push_back(
                {one.at("seed"),
                 {one.at("check"), one.at("what"), one.value("at_ns", Time{0}),
                  one.value("step", std::uint64_t{0})}});
        // Values, not temporaries: items() only refers to what it goes through.
        const Json coverage = json.value("coverage", Json::object());
        for (const auto& [key, times] : coverage.items()) {
            const auto what = seen_named(key);
            if (!what) throw std::runtime_error("coverage of '" + key + "', which is not known");
            result.coverage.add(*what, times);
        }
        const Json waited = json.value("waited", Json::object());
        for (const auto& [check, one] : waited.items()) {
            Durations& durations = result.waited[check];
            durations.raise_max(one.at("max_ns"), 0);
            durations.raise_nearest(one.at("nearest_percent"));
            for (const Json& pair : one.at("classes")) durations.add_class(pair.at(0), pair.at(1));
        }
        return result;
    } catch (const Json::exception& error) {
        throw std::runtime_error(std::string("no result of a sweep: ") + error.what());
    }
}

std::string summary(const SweepResult& result, const std::string& replay) {
    const double cpu = static_cast<double>(result.cpu_ns) / 1e9;
    std::string text = fmt::format(
        "{} seeds ({} of them twice), {:.2f} simulated hours, {} messages delivered, {} steps, {} "
        "elections; {:.1f} CPU seconds, {:.2f} million messages a CPU second; digest {:016x}\n",
        result.seeds, result.twice, static_cast<double>(result.simulated) / 3.6e12,
        result.delivered, result.steps, result.elections, cpu,
        cpu > 0 ? static_cast<double>(result.delivered) / cpu / 1e6 : 0.0, result.digest);
    for (const auto& [check, durations] : result.waited)
        text += fmt::format(
            "{}: a leader in {} cases after median {}, p99 {}, max {}; at most {} "
            "% of the bound\n",
            check, durations.count(), rounded_text(durations.quantile(0.5)),
            rounded_text(durations.quantile(0.99)), rounded_text(durations.max()),
            durations.nearest_percent());
    text += "seen:";
    for (std::size_t i = 0; i < seen_count; ++i) {
        const auto what = static_cast<Seen>(i);
        text += fmt::format("{}{} {}", i % 5 == 0 ? "\n  " : ", ", name(what),
                            result.coverage.of(what));
    }
    text += "\n";
    constexpr std::size_t shown_max = 20;
    for (std::size_t i = 0; i < result.violations.size() && i < shown_max; ++i)
        text += fmt::format("seed {}: {}\n    see it with: {}{}\n", result.violations[i].seed,
                            violation_text(result.violations[i].violation), replay,
                            result.violations[i].seed);
    if (result.violations.size() > shown_max)
        text += fmt::format("and {} more\n", result.violations.size() - shown_max);
    return text;
}

}  // namespace bullring::sim
