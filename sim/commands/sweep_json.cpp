#include "sim/commands/sweep_json.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/commands/outcome_text.hpp"
#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

using Json = nlohmann::ordered_json;

namespace {

std::uint64_t count_in(const Json& json, const char* key) {
    const Json& value = json.at(key);
    if (!value.is_number_unsigned())
        throw std::runtime_error(
            fmt::format("'{}': {} where a count has its place", key, value.dump()));
    return value;
}

std::uint64_t digest_in(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size())
        throw std::runtime_error(fmt::format("'digest': '{}' is no number of base 16", text));
    return value;
}

}  // namespace

std::string to_json(const SweepResult& result) {
    Json json;
    json["shares"] = Json::array();
    for (const Share& share : result.shares)
        json["shares"].push_back({{"first", share.seeds.first},
                                  {"last", share.seeds.last},
                                  {"shard", share.shard},
                                  {"shards", share.shards},
                                  {"flags", share.flags},
                                  {"full", share.full}});
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
                                      {"flags", found.flags},
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
        const Json shares = json.value("shares", Json::array());
        for (const Json& one : shares) {
            Share share{{count_in(one, "first"), count_in(one, "last")},
                        count_in(one, "shard"),
                        count_in(one, "shards"),
                        one.at("flags"),
                        one.at("full")};
            if (share.shard >= share.shards) throw std::runtime_error("a shard that is none");
            result.shares.push_back(std::move(share));
        }
        result.seeds = count_in(json, "seeds");
        result.twice = json.value("twice", 0U);
        result.steps = json.value("steps", std::uint64_t{0});
        result.delivered = json.value("delivered", std::uint64_t{0});
        result.elections = json.value("elections", std::uint64_t{0});
        result.simulated = json.value("simulated_ns", Time{0});
        result.cpu_ns = json.value("cpu_ns", std::int64_t{0});
        result.digest = digest_in(json.value("digest", std::string("0")));
        for (const Json& one : json.at("violations"))
            result.violations.push_back(
                {count_in(one, "seed"),
                 {one.at("check"), one.at("what"), one.value("at_ns", Time{0}),
                  one.value("step", std::uint64_t{0})},
                 one.value("flags", std::string())});
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

std::string summary(const SweepResult& result) {
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
        text +=
            fmt::format("seed {}: {}\n    see it with: bullring-sim run{} --seed {}\n",
                        result.violations[i].seed, violation_text(result.violations[i].violation),
                        result.violations[i].flags, result.violations[i].seed);
    if (result.violations.size() > shown_max)
        text += fmt::format("and {} more\n", result.violations.size() - shown_max);
    return text;
}

}  // namespace bullring::sim
