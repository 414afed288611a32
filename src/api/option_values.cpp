#include "src/api/option_values.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "src/options/request.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

constexpr const char* no_dashes = "";
constexpr std::array<std::string_view, 4> library_names{"stall-after", "stop-margin",
                                                        "step-down-timeout", "restart-delay"};

/// A member's request, and what run_while_leader() adds.
struct LibraryRequest {
    MemberRequest member;
    LibraryOptions added;  // without the node
    Asked<protocol::Duration> stop_margin, step_down_timeout;
};

/// Fills a request with values that have their types already.
class Filler {
public:
    explicit Filler(Report& report) : report_(report) {}

    template <class Into>
    void text(const char* name, const std::string& value, Into& into) {
        if (value.empty()) return;
        Asked<typename Stored<Into>::Value> asked{true, std::nullopt};
        reader_.take(name, value, asked.value);
        store(std::move(asked), into);
    }
    void cluster(const std::string& name, std::string& into) {
        Asked<std::string> asked{true, std::nullopt};
        reader_.take_cluster(name, asked.value);
        store(std::move(asked), into);
    }
    void id(std::uint64_t value, Asked<protocol::NodeId>& into) {
        into.given = value != 0;
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            report_.refuse("id", std::to_string(value), "is too large; expected at most 2^63−1");
        else if (into.given)
            into.value = protocol::NodeId{value};
    }
    void priority(const Options& options, protocol::Priority& into) {
        if (options.never_lead)
            into = protocol::Priority::never();
        else if (options.priority >= priorities.low && options.priority <= priorities.high)
            into = protocol::Priority{options.priority};
        else
            report_.refuse("priority", std::to_string(options.priority),
                           std::string("is out of range; expected ") + priorities.right);
    }
    template <class Into>
    void duration(const char* name, const std::optional<std::chrono::nanoseconds>& value,
                  Into& into, bool zero_too = false) {
        if (!value) return;
        const protocol::Duration duration{value->count()};
        Asked<protocol::Duration> asked{true, std::nullopt};
        if (duration.ns < 0)
            report_.refuse(name, to_text(duration), "is negative; expected a length of time");
        else if (duration.ns == 0 && !zero_too)
            report_.refuse(name, to_text(duration), "must be more than 0");
        else if (duration > protocol::duration_max)
            report_.refuse(name, to_text(duration), std::string(protocol::duration_too_long));
        else
            asked.value = duration;
        store(asked, into);
    }
    /// The enumerators of the library's enumeration and of the other stand in the same order.
    template <class Theirs, class Into>
    void word(const char* name, Theirs value, Into& into) {
        using Ours = typename Stored<Into>::Value;
        const std::vector<Ours> all = protocol::enumerators<Ours>();
        const auto place = static_cast<std::size_t>(value);
        Asked<Ours> asked{true, std::nullopt};
        if (place < all.size())
            asked.value = all[place];
        else
            report_.refuse(name, std::to_string(place),
                           "is not one of " + protocol::all_names<Ours>());
        store(asked, into);
    }

private:
    Report& report_;
    const RawValues none_;
    Reader reader_{none_, report_};
};

LibraryRequest request_of(const Options& options, Report& report) {
    LibraryRequest request;
    MemberRequest& member = request.member;
    protocol::Config& config = member.options.config;
    Filler fill(report);
    fill.id(options.id, member.id);
    fill.text("peers", options.peers, member.peers);
    fill.cluster(options.cluster, config.cluster);
    fill.word("algorithm", options.algorithm, member.algorithm);
    fill.text("listen", options.listen, member.listen);
    fill.text("advertise", options.advertise, config.advertised);
    fill.priority(options, config.priority);
    member.preempt = {options.preempt.has_value(), options.preempt};
    fill.duration("preempt-delay", options.preempt_delay, member.preempt_delay, true);
    fill.word("quorum", options.quorum, config.quorum);
    fill.word("profile", options.profile, member.profile);
    fill.duration("heartbeat", options.heartbeat, member.heartbeat);
    fill.duration("suspect-after", options.suspect_after, member.suspect_after);
    fill.duration("lease", options.lease, member.lease);
    fill.duration("lease-max", options.lease_max, member.lease_max);
    fill.word("realtime", options.realtime, member.options.realtime);
    fill.duration("bootstrap-wait", options.bootstrap_wait, config.bootstrap_wait, true);
    fill.word("first-epoch", options.first_epoch, config.first_epoch);
    if (options.fast_release) fill.word("fast-release", *options.fast_release, member.fast_release);
    // That is how a host says that its children may outlive it.
    config.hooks = options.fast_release == FastRelease::off;
    fill.duration("hang-after", options.hang_after, member.hang_after);
    fill.text("data-dir", options.data_dir, member.data_dir);
    member.options.events_file = options.events;
    member.options.trace_file = options.trace;
    const auto text = [](const std::string& value) {
        return value.empty() ? std::nullopt : std::optional(value);
    };
    member.options.http = http_options({text(options.http),
                                        {options.http_public, options.http_public},
                                        text(options.http_token_file)},
                                       report);
    fill.text("security", options.security, member.security.mode);
    SecurityOptions& files = member.security.files;
    files.key_file = options.key_file;
    files.observer_key_file = options.observer_key_file;
    files.certificate_file = options.tls_cert;
    files.private_key_file = options.tls_key;
    files.ca_file = options.tls_ca;
    files.crl_file = options.tls_crl;
    files.migrate = options.security_migrate;
    fill.duration("stall-after", options.stall_after, request.added.stall_after);
    fill.duration("stop-margin", options.stop_margin, request.stop_margin, true);
    fill.duration("step-down-timeout", options.step_down_timeout, request.step_down_timeout);
    fill.duration("restart-delay", options.restart_delay, request.added.restart_delay, true);
    return request;
}

LibraryRequest request_of(const RawValues& values, Report& report) {
    LibraryRequest request;
    Reader read(values, report);
    request.member = member_request(read, report);
    read.positive("stall-after", request.added.stall_after);
    read("stop-margin", request.stop_margin);
    read.positive("step-down-timeout", request.step_down_timeout);
    read("restart-delay", request.added.restart_delay);
    return request;
}

Environment data_dir_environment() {
    Environment environment;
    for (const char* name : {"STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"}) {
        if (const char* value = std::getenv(name)) environment.emplace(name, value);
    }
    return environment;
}

LibraryOptions checked(const LibraryRequest& request, Report& report) {
    LibraryOptions options = request.added;
    options.node =
        checked(request.member, data_dir_environment(), {{}, request.stop_margin}, report);
    protocol::Timing& timing = options.node.config.timing;
    timing.step_down_timeout = request.step_down_timeout.value_or(timing.step_down_timeout);
    return options;
}

/// Whether it is a flag of `node` that means something in a library, or one of the library's own.
bool is_setting(std::string_view name) {
    if (std::find(library_names.begin(), library_names.end(), name) != library_names.end())
        return true;
    return find_flag(Subcommand::node, name) != nullptr && name != "config" &&
           !name.starts_with("on-") && !name.starts_with("health-") && !name.starts_with("log-");
}

std::string no_setting(const std::string& name) {
    constexpr const char* right =
        "; expected a flag of bullring node other than hooks, health-…, "
        "log-… and config, or stall-after, stop-margin, "
        "step-down-timeout or restart-delay";
    if (is_flag(name)) return in_quotes(name) + " is not a setting of the library" + right;
    const std::string_view meant = nearest_flag(name);
    return "unknown setting " + in_quotes(name) +
           (is_setting(meant) ? "; did you mean " + std::string(meant) + "?" : right);
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

}  // namespace

std::string joined(const Problems& problems) {
    std::string text;
    for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
    return text;
}

LibraryOptions library_options(const Options& options, Problems& problems) {
    const RawValues none;
    Report report(none, problems, no_dashes);
    return checked(request_of(options, report), report);
}

LibraryOptions library_options(const char* const* names_and_values, Problems& problems) {
    const RawValues values = raw_values(names_and_values, problems);
    Report report(values, problems, no_dashes);
    return checked(request_of(values, report), report);
}

}  // namespace bullring
