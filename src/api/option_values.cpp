#include "src/api/option_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "protocol/timing.hpp"
#include "src/options/options_member.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

constexpr std::string_view library_names[] = {"stall-after", "stop-margin", "step-down-timeout",
                                              "restart-delay"};

/// By the place of the enumerator.
template <class Enum, std::size_t count>
const char* word(Enum value, const char* const (&words)[count]) {
    const auto place = static_cast<std::size_t>(value);
    return place < count ? words[place] : "?";
}

class Writer {
public:
    explicit Writer(RawValues& values) : values_(values) {}

    void text(const char* name, const std::string& value) {
        if (!value.empty()) values_[name] = {value, name};
    }
    void duration(const char* name, const std::optional<std::chrono::nanoseconds>& value) {
        if (value) text(name, to_text(protocol::Duration{value->count()}));
    }
    void boolean(const char* name, bool value) { text(name, value ? "on" : "off"); }

private:
    RawValues& values_;
};

Environment data_dir_environment() {
    Environment environment;
    for (const char* name : {"STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"}) {
        if (const char* value = std::getenv(name)) environment.emplace(name, value);
    }
    return environment;
}

void read_stop_margin(OptionReader& reader, protocol::Timing& timing, Problems& problems) {
    const auto given = reader.duration("stop-margin");
    const protocol::Duration room = timing.lease - timing.heartbeat * 2 - timing.pause;
    timing.kill_margin =
        given.value_or(std::min(timing.lease / 5, std::max(room / 2, protocol::Duration{0})));
    if (!given || *given < room) return;
    problems.push_back("stop-margin (" + to_text(*given) + ") + 2 × heartbeat (" +
                       to_text(timing.heartbeat * 2) + ") + pause (" + to_text(timing.pause) +
                       ") must be < lease (" + to_text(timing.lease) + ")");
}

/// Whether it is a flag of `node` that means something in a library, or one of the library's own.
bool is_setting(std::string_view name) {
    if (std::find(std::begin(library_names), std::end(library_names), name) !=
        std::end(library_names))
        return true;
    return find_flag(Subcommand::node, name) != nullptr && name != "config" &&
           !name.starts_with("on-") && !name.starts_with("health-") && !name.starts_with("log-");
}

std::string no_setting(const std::string& name) {
    constexpr const char* right =
        "; right are the flags of bullring node without hooks, health-…, "
        "log-… and config, and stall-after, stop-margin, "
        "step-down-timeout, restart-delay";
    if (is_flag(name)) return in_quotes(name) + " is no setting of the library" + right;
    const std::string_view meant = nearest_flag(name);
    return "unknown setting " + in_quotes(name) +
           (is_setting(meant) ? "; did you mean " + std::string(meant) + "?" : right);
}

/// The reader of the flags names them as on a command line. Values stand in quotes and are left
/// alone: only the beginning, and what would be right, are the reader's own words.
std::string without_dashes(std::string problem) {
    if (problem.starts_with("--")) problem.erase(0, 2);
    constexpr std::string_view right = "; right is ";
    const std::size_t at = problem.rfind(right);
    if (at != std::string::npos && problem.compare(at + right.size(), 2, "--") == 0)
        problem.erase(at + right.size(), 2);
    return problem;
}

}  // namespace

std::string joined(const Problems& problems) {
    std::string text;
    for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
    return text;
}

RawValues raw_values(const Options& options) {
    RawValues values;
    Writer write(values);
    if (options.id != 0) write.text("id", std::to_string(options.id));
    write.text("peers", options.peers);
    values["cluster"] = {options.cluster, "cluster"};
    write.text("algorithm", word(options.algorithm, {"bully", "ring"}));
    write.text("listen", options.listen);
    write.text("advertise", options.advertise);
    write.text("priority", options.never_lead ? "never" : std::to_string(options.priority));
    if (options.preempt) write.boolean("preempt", *options.preempt);
    write.duration("preempt-delay", options.preempt_delay);
    write.text("quorum", word(options.quorum, {"majority", "none"}));
    write.text("profile", word(options.profile, {"realtime", "fast", "lan", "cloud", "wan"}));
    write.duration("heartbeat", options.heartbeat);
    write.duration("suspect-after", options.suspect_after);
    write.duration("lease", options.lease);
    write.duration("lease-max", options.lease_max);
    write.text("realtime", word(options.realtime, {"on", "off", "auto"}));
    write.duration("bootstrap-wait", options.bootstrap_wait);
    write.text("first-epoch", word(options.first_epoch, {"clock", "0"}));
    write.boolean("fast-release", options.fast_release);
    write.text("data-dir", options.data_dir);
    write.text("events", options.events);
    write.text("trace", options.trace);
    write.duration("stall-after", options.stall_after);
    write.duration("stop-margin", options.stop_margin);
    write.duration("step-down-timeout", options.step_down_timeout);
    write.duration("restart-delay", options.restart_delay);
    return values;
}

RawValues raw_values(const char* const* names_and_values, Problems& problems) {
    RawValues values;
    for (const char* const* next = names_and_values; next != nullptr && *next != nullptr;
         next += 2) {
        const std::string name = *next;
        if (next[1] == nullptr) {
            report(problems, name, "it has no value");
            break;
        }
        if (!is_setting(name)) {
            problems.push_back(no_setting(name));
            continue;
        }
        values[name] = {next[1], name};
    }
    fold_negations(values, problems);
    return values;
}

LibraryOptions library_options(const RawValues& values, Problems& problems) {
    LibraryOptions options;
    Problems of_flags;
    OptionReader reader(values, of_flags);
    options.node = member_options(reader, data_dir_environment(), std::nullopt, of_flags);
    protocol::Timing& timing = options.node.config.timing;
    const bool sound = problems.empty() && of_flags.empty();
    timing.step_down_timeout =
        reader.positive_duration("step-down-timeout").value_or(timing.step_down_timeout);
    options.stall_after = reader.positive_duration("stall-after").value_or(options.stall_after);
    options.restart_delay = reader.duration("restart-delay").value_or(options.restart_delay);
    if (sound) read_stop_margin(reader, timing, of_flags);
    for (std::string& problem : of_flags) problems.push_back(without_dashes(std::move(problem)));
    return options;
}

}  // namespace bullring
