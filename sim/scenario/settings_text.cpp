#include "sim/scenario/settings_text.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "sim/scenario/duration_text.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

constexpr std::int64_t million = 1'000'000;

const char* on_off(bool value) { return value ? "on" : "off"; }

std::string range_text(Range range) {
    if (range.min == range.max) return duration_text(range.min);
    return duration_text(range.min) + ".." + duration_text(range.max);
}

using Read = std::function<void(LineReader&, Settings&)>;

template <class Member>
Read duration_into(Member member) {
    return [member](LineReader& line, Settings& s) {
        s.*member = Duration{line.duration("the value")};
    };
}
Read range_into(Range Settings::*member) {
    return [member](LineReader& line, Settings& s) { s.*member = line.range("the value"); };
}
Read switch_into(bool Settings::*member) {
    return [member](LineReader& line, Settings& s) { s.*member = line.on_or_off(); };
}
template <class Enum>
Read name_into(Enum Settings::*member) {
    return [member](LineReader& line, Settings& s) { s.*member = line.named<Enum>(); };
}
template <class Integer>
Read number_into(Integer Settings::*member, std::int64_t max) {
    return [member, max](LineReader& line, Settings& s) {
        s.*member = static_cast<Integer>(line.number("the value", 0, max));
    };
}

void read_nodes(LineReader& line, Settings& s) {
    const std::string text(line.word("how many nodes, or their ids"));
    s.ids = parse_ids(text);
    if (s.ids.empty())
        line.fail(fmt::format("nodes '{}': a number from 1 to {} or ids such as 3,7,9 are needed",
                              text, members_max));
}

/// "3,7,9"; empty: none.
std::vector<NodeId> listed_ids(std::string_view text) {
    std::vector<NodeId> ids;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + comma, value);
        if (error != std::errc{} || end != text.data() + comma || value == 0) return {};
        ids.push_back({value});
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

std::vector<NodeId> read_ids(LineReader& line) {
    const std::string text(line.word("the ids of the founders"));
    std::vector<NodeId> ids = listed_ids(text);
    if (ids.empty()) line.fail(fmt::format("founders '{}': ids such as 1,2,3", text));
    return ids;
}

std::set<NodeId> read_workless(LineReader& line) {
    const std::string text(line.word("the ids of those without a task"));
    const std::vector<NodeId> ids = listed_ids(text);
    if (ids.empty()) line.fail(fmt::format("workless '{}': ids such as 1,2,3", text));
    return {ids.begin(), ids.end()};
}

void read_priority(LineReader& line, Settings& s) {
    const NodeId id = line.id();
    s.priorities[id] =
        line.take("never")
            ? Priority::never()
            : Priority{static_cast<std::int32_t>(line.number("the priority", -1000, 1000))};
}

const std::map<std::string_view, Read>& readers() {
    static const std::map<std::string_view, Read> all{
        {"nodes", read_nodes},
        {"founders", [](LineReader& line, Settings& s) { s.founders = read_ids(line); }},
        {"founders-of",
         [](LineReader& line, Settings& s) {
             const NodeId id = line.id();
             s.founders_of[id] = read_ids(line);
         }},
        {"neighbours",
         [](LineReader& line, Settings& s) {
             s.neighbours = read_ids(line);
             s.neighbours_have_this_name = line.take("of-this-name");
         }},
        {"quorum", name_into(&Settings::quorum)},
        {"profile", name_into(&Settings::profile)},
        {"seed", number_into(&Settings::seed, INT64_MAX)},
        {"by-hand", [](LineReader& line, Settings& s) { s.by_hand = line.named<Begin>(); }},
        {"delay", range_into(&Settings::delay)},
        {"loss", number_into(&Settings::loss_ppm, million)},
        {"resend", range_into(&Settings::resend)},
        {"fsync", range_into(&Settings::fsync)},
        {"drift", number_into(&Settings::drift_ppm, million)},
        {"rho", number_into(&Settings::rho_ppm, million)},
        {"unread", number_into(&Settings::unread_max, million)},
        {"outbox", number_into(&Settings::outbox_max, million)},
        {"translated", switch_into(&Settings::translated)},
        {"lease", duration_into(&Settings::lease)},
        {"heartbeat", duration_into(&Settings::heartbeat)},
        {"suspect-after", duration_into(&Settings::suspect_after)},
        {"lease-max", duration_into(&Settings::lease_max)},
        {"preempt", [](LineReader& line, Settings& s) { s.preempt = line.on_or_off(); }},
        {"preempt-delay", duration_into(&Settings::preempt_delay)},
        {"hold-off", duration_into(&Settings::hand_over_hold_off)},
        {"bootstrap-wait", duration_into(&Settings::bootstrap_wait)},
        {"forget-after", duration_into(&Settings::forget_after)},
        {"first-epoch", name_into(&Settings::first_epoch)},
        {"fast-release", name_into(&Settings::fast_release)},
        {"tie", switch_into(&Settings::tie)},
        {"hooks", switch_into(&Settings::hooks)},
        {"kill-margin", duration_into(&Settings::kill_margin)},
        {"task-ending", range_into(&Settings::task_ending)},
        {"workless", [](LineReader& line, Settings& s) { s.workless = read_workless(line); }},
        {"priority", read_priority},
        {"lease-of",
         [](LineReader& line, Settings& s) {
             const NodeId id = line.id();
             s.leases[id] = Duration{line.duration("its lease")};
         }},
        {"lease-max-of",
         [](LineReader& line, Settings& s) {
             const NodeId id = line.id();
             s.leases_max[id] = Duration{line.duration("the longest lease that it grants")};
         }},
        {"wall-clock-of",
         [](LineReader& line, Settings& s) {
             const NodeId id = line.id();
             s.wall_clocks[id] = Duration{line.duration("how far it is ahead")};
         }},
        {"wire-of",
         [](LineReader& line, Settings& s) {
             const NodeId id = line.id();
             s.wires[id] = static_cast<std::uint16_t>(
                 line.number("its highest version", version_lowest, version_highest));
         }},
        {"heartbeat-of",
         [](LineReader& line, Settings& s) {
             const NodeId id = line.id();
             s.heartbeats[id] = Duration{line.duration("its heartbeat")};
         }},
        {"beyond",
         [](LineReader& line, Settings& s) {
             (line.one_of({"rho", "disk"}) == "rho" ? s.beyond_rho : s.beyond_disk) = true;
         }},
    };
    return all;
}

/// Not of the settings alone: `both` stands for two worlds.
void read_algorithm(LineReader& line, Scenario& scenario) {
    std::vector<std::string_view> words;
    for (const Algorithm algorithm : enumerators<Algorithm>()) words.emplace_back(name(algorithm));
    words.emplace_back("both");
    const std::string word = line.one_of(words);
    scenario.settings.algorithm = named<Algorithm>(word).value_or(Settings{}.algorithm);
    scenario.both_algorithms = word == "both";
    line.end();
}

/// The settings that single members have, by `line(NAME, VALUE)`.
template <class Line>
void add_members(const Settings& s, const Line& line) {
    for (const auto& [id, priority] : s.priorities)
        line("priority",
             fmt::format("{} {}", id.value,
                         priority.is_never() ? "never" : std::to_string(priority.value)));
    for (const auto& [id, lease] : s.leases)
        line("lease-of", fmt::format("{} {}", id.value, duration_text(lease.ns)));
    for (const auto& [id, lease] : s.leases_max)
        line("lease-max-of", fmt::format("{} {}", id.value, duration_text(lease.ns)));
    for (const auto& [id, heartbeat] : s.heartbeats)
        line("heartbeat-of", fmt::format("{} {}", id.value, duration_text(heartbeat.ns)));
    for (const auto& [id, version] : s.wires)
        line("wire-of", fmt::format("{} {}", id.value, version));
    for (const auto& [id, ahead] : s.wall_clocks)
        line("wall-clock-of", fmt::format("{} {}", id.value, duration_text(ahead.ns)));
}

}  // namespace

std::vector<NodeId> parse_ids(std::string_view text) {
    std::vector<NodeId> ids = listed_ids(text);
    if (ids.empty() || text.find(',') != std::string_view::npos) return ids;
    const std::uint64_t count = ids.front().value;
    if (count > members_max) return {};
    ids.clear();
    for (std::uint64_t id = 1; id <= count; ++id) ids.push_back({id});
    return ids;
}

void read_setting(LineReader& line, Scenario& scenario) {
    const std::string_view name = line.word("a setting");
    if (name == "algorithm") return read_algorithm(line, scenario);
    const auto found = readers().find(name);
    if (found == readers().end()) {
        std::string known = " algorithm";
        for (const auto& [word, read] : readers()) known += " " + std::string(word);
        return line.fail(
            fmt::format("'{:.40}' is no setting; there are{}, and 'at TIME …'", name, known));
    }
    found->second(line, scenario.settings);
    line.end();
}

std::string settings_text(const Scenario& scenario) {
    const Settings& s = scenario.settings;
    const Settings usual;
    std::string out;
    const auto line = [&](const char* name, const std::string& value) {
        out += std::string(name) + " " + value + "\n";
    };
    const auto duration = [&](const char* name, Duration value, Duration other) {
        if (value != other) line(name, duration_text(value.ns));
    };
    const auto maybe = [&](const char* name, const std::optional<Duration>& value) {
        if (value) line(name, duration_text(value->ns));
    };
    const auto number = [&](const char* name, std::uint64_t value, std::uint64_t other) {
        if (value != other) line(name, std::to_string(value));
    };
    const auto toggle = [&](const char* name, bool value, bool other) {
        if (value != other) line(name, on_off(value));
    };
    const auto range = [&](const char* name, Range value, Range other) {
        if (value != other) line(name, range_text(value));
    };

    bool dense = true;
    std::vector<std::uint64_t> values;
    for (const NodeId id : s.ids) {
        values.push_back(id.value);
        dense = dense && id.value == values.size();
    }
    line("nodes",
         dense ? std::to_string(values.size()) : fmt::format("{}", fmt::join(values, ",")));
    if (!s.founders.empty()) line("founders", ids_text(s.founders));
    for (const auto& [id, founders] : s.founders_of)
        line("founders-of", fmt::format("{} {}", id.value, ids_text(founders)));
    if (!s.neighbours.empty())
        line("neighbours",
             ids_text(s.neighbours) + (s.neighbours_have_this_name ? " of-this-name" : ""));
    line("algorithm", scenario.both_algorithms ? "both" : name(s.algorithm));
    if (s.quorum != usual.quorum) line("quorum", name(s.quorum));
    line("profile", name(s.profile));
    line("seed", std::to_string(s.seed));
    if (s.by_hand) line("by-hand", name(*s.by_hand));
    range("delay", s.delay, usual.delay);
    number("loss", s.loss_ppm, usual.loss_ppm);
    range("resend", s.resend, usual.resend);
    range("fsync", s.fsync, usual.fsync);
    if (s.beyond_rho) line("beyond", "rho");
    if (s.beyond_disk) line("beyond", "disk");
    number("rho", s.rho_ppm, usual.rho_ppm);
    number("drift", s.drift_ppm, usual.drift_ppm);
    number("unread", s.unread_max, usual.unread_max);
    number("outbox", s.outbox_max, usual.outbox_max);
    toggle("translated", s.translated, usual.translated);
    maybe("lease", s.lease);
    maybe("heartbeat", s.heartbeat);
    maybe("suspect-after", s.suspect_after);
    duration("lease-max", s.lease_max, usual.lease_max);
    if (s.preempt) line("preempt", on_off(*s.preempt));
    duration("preempt-delay", s.preempt_delay, usual.preempt_delay);
    duration("hold-off", s.hand_over_hold_off, usual.hand_over_hold_off);
    duration("bootstrap-wait", s.bootstrap_wait, usual.bootstrap_wait);
    duration("forget-after", s.forget_after, usual.forget_after);
    if (s.first_epoch != usual.first_epoch) line("first-epoch", name(s.first_epoch));
    if (s.fast_release != usual.fast_release) line("fast-release", name(s.fast_release));
    toggle("tie", s.tie, usual.tie);
    toggle("hooks", s.hooks, usual.hooks);
    duration("kill-margin", s.kill_margin, usual.kill_margin);
    range("task-ending", s.task_ending, usual.task_ending);
    if (!s.workless.empty()) line("workless", ids_text({s.workless.begin(), s.workless.end()}));
    add_members(s, line);
    return out;
}

std::vector<Scenario> each_algorithm(const Scenario& scenario) {
    if (!scenario.both_algorithms) return {scenario};
    std::vector<Scenario> all;
    for (const auto algorithm : protocol::enumerators<protocol::Algorithm>()) {
        all.push_back(scenario);
        all.back().both_algorithms = false;
        all.back().settings.algorithm = algorithm;
    }
    return all;
}

}  // namespace bullring::sim
