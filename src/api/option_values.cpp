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
    report(problems, "stop-margin",
           "stop-margin (" + to_text(*given) + ") + 2 × heartbeat (" +
               to_text(timing.heartbeat * 2) + ") + pause (" + to_text(timing.pause) +
               ") must be < lease (" + to_text(timing.lease) + ")");
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
    if (options.algorithm == Algorithm::ring || options.ring_heartbeats != RingHeartbeats::mesh)
        write.text("ring-heartbeats", word(options.ring_heartbeats, {"mesh", "neighbours"}));
    if (options.algorithm == Algorithm::ring || options.ring_renewal != RingRenewal::direct)
        write.text("ring-renewal", word(options.ring_renewal, {"direct", "token"}));
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
        const bool known = (find_flag(Subcommand::node, name) != nullptr && name != "config" &&
                            !name.starts_with("on-") && !name.starts_with("health-") &&
                            !name.starts_with("log-")) ||
                           std::find(std::begin(library_names), std::end(library_names), name) !=
                               std::end(library_names);
        if (!known) {
            const std::string_view meant = nearest_flag(name);
            problems.push_back("unknown setting " + in_quotes(name) +
                               (meant.empty() ? "; right are the flags of bullring node"
                                              : "; did you mean " + std::string(meant) + "?"));
            continue;
        }
        values[name] = {next[1], name};
    }
    fold_negations(values, problems);
    return values;
}

LibraryOptions library_options(const RawValues& values, Problems& problems) {
    LibraryOptions options;
    OptionReader reader(values, problems);
    options.node = member_options(reader, data_dir_environment(), std::nullopt, problems);
    protocol::Timing& timing = options.node.config.timing;
    const bool sound = problems.empty();
    timing.step_down_timeout =
        reader.positive_duration("step-down-timeout").value_or(timing.step_down_timeout);
    options.stall_after = reader.positive_duration("stall-after").value_or(options.stall_after);
    options.restart_delay = reader.duration("restart-delay").value_or(options.restart_delay);
    if (sound) read_stop_margin(reader, timing, problems);
    return options;
}

}  // namespace bullring
