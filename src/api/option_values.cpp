#include "src/api/option_values.hpp"

#include <cstdlib>
#include <string_view>

#include "src/base/text/text.hpp"
#include "src/security/checked_security.hpp"
#include "src/settings/flags.hpp"

namespace bullring {

namespace {

constexpr const char* no_dashes = "";

// The words of the library's enumerations are those of the flags.

/// Values that are no enumerators are named by their number.
template <class Enum>
std::string no_word(Enum value) {
    return std::to_string(static_cast<int>(value));
}

std::string word(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::bully: return "bully";
        case Algorithm::ring: return "ring";
    }
    return no_word(algorithm);
}

std::string word(Quorum quorum) {
    switch (quorum) {
        case Quorum::majority: return "majority";
        case Quorum::none: return "none";
    }
    return no_word(quorum);
}

std::string word(Profile profile) {
    switch (profile) {
        case Profile::realtime: return "realtime";
        case Profile::fast: return "fast";
        case Profile::lan: return "lan";
        case Profile::cloud: return "cloud";
        case Profile::wan: return "wan";
    }
    return no_word(profile);
}

std::string word(Realtime realtime) {
    switch (realtime) {
        case Realtime::on: return "on";
        case Realtime::off: return "off";
        case Realtime::automatic: return "auto";
    }
    return no_word(realtime);
}

std::string word(FirstEpoch first) {
    switch (first) {
        case FirstEpoch::clock: return "clock";
        case FirstEpoch::zero: return "0";
    }
    return no_word(first);
}

std::string word(FastRelease release) {
    switch (release) {
        case FastRelease::off: return "off";
        case FastRelease::fin: return "fin";
        case FastRelease::notice: return "notice";
    }
    return no_word(release);
}

/// The names of the settings with their values as texts.
class Texts {
public:
    void set(const char* name, std::string text) { values_[name] = {std::move(text), name}; }
    void set_if_any(const char* name, const std::string& text) {
        if (!text.empty()) set(name, text);
    }
    void set_if_on(const char* name, bool on) {
        if (on) set(name, "on");
    }
    void set(const char* name, const std::optional<std::chrono::nanoseconds>& time) {
        if (time) set(name, to_text(protocol::Duration{time->count()}));
    }
    RawValues values() && { return std::move(values_); }

private:
    RawValues values_;
};

RawValues raw_values(const Options& options) {
    Texts texts;
    if (options.id != 0) texts.set("id", std::to_string(options.id));
    texts.set_if_any("peers", options.peers);
    texts.set_if_any("join", options.join);
    texts.set_if_any("join-as", options.join_as);
    texts.set_if_on("voter", options.voter);
    texts.set("forget-after", options.forget_after);
    texts.set("cluster", options.cluster);
    texts.set("algorithm", word(options.algorithm));
    texts.set_if_any("listen", options.listen);
    texts.set_if_any("advertise", options.advertise);
    texts.set("priority", options.never_lead ? "never" : std::to_string(options.priority));
    if (options.preempt) texts.set("preempt", *options.preempt ? "on" : "off");
    texts.set("preempt-delay", options.preempt_delay);
    texts.set("quorum", word(options.quorum));
    texts.set("profile", word(options.profile));
    texts.set("heartbeat", options.heartbeat);
    texts.set("suspect-after", options.suspect_after);
    texts.set("lease", options.lease);
    texts.set("lease-max", options.lease_max);
    texts.set("realtime", word(options.realtime));
    texts.set("bootstrap-wait", options.bootstrap_wait);
    texts.set("first-epoch", word(options.first_epoch));
    if (options.fast_release) texts.set("fast-release", word(*options.fast_release));
    texts.set("hang-after", options.hang_after);
    if (options.wire != 0) texts.set("wire", std::to_string(options.wire));
    texts.set_if_any("data-dir", options.data_dir);
    texts.set_if_any("events", options.events);
    texts.set_if_any("trace", options.trace);
    texts.set_if_any("http", options.http);
    texts.set_if_on("http-public", options.http_public);
    texts.set_if_any("http-token-file", options.http_token_file);
    texts.set_if_any("security", options.security);
    texts.set_if_any("key-file", options.key_file);
    texts.set_if_any("observer-key-file", options.observer_key_file);
    texts.set_if_any("tls-cert", options.tls_cert);
    texts.set_if_any("tls-key", options.tls_key);
    texts.set_if_any("tls-ca", options.tls_ca);
    texts.set_if_any("tls-crl", options.tls_crl);
    texts.set_if_on("security-migrate", options.security_migrate);
    texts.set("stall-after", options.stall_after);
    texts.set("stop-margin", options.stop_margin);
    texts.set("step-down-timeout", options.step_down_timeout);
    texts.set("restart-delay", options.restart_delay);
    return std::move(texts).values();
}

std::string no_setting(const std::string& name) {
    constexpr const char* right =
        "; expected a flag of bullring node other than hooks, health-…, "
        "log-… and config, or stall-after, stop-margin, "
        "step-down-timeout or restart-delay";
    if (is_flag(name)) return in_quotes(name) + " is not a setting of the library" + right;
    const std::string_view meant = nearest_flag(name, library);
    return "unknown setting " + in_quotes(name) +
           (meant.empty() ? right : "; did you mean " + std::string(meant) + "?");
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
        if (find_flag(library, name) == nullptr) {
            problems.push_back(no_setting(name));
            continue;
        }
        values[name] = {next[1], name};
    }
    fold_negations(values, problems);
    return values;
}

Environment data_dir_environment() {
    Environment environment;
    for (const char* name : {"STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"}) {
        if (const char* value = std::getenv(name)) environment.emplace(name, value);
    }
    return environment;
}

LibraryOptions options_of(const RawValues& values, Problems& problems) {
    Report report(values, problems, no_dashes);
    const Request request = read_request(library, values, report);
    LibraryOptions options{
        checked(request, data_dir_environment(), {{}, request.stop_margin}, report),
        request.stall_after.value, request.restart_delay.value};
    options.node.mode = "library";
    // That is how a host says that its children may outlive it.
    options.node.config.hooks = request.fast_release.asked() == protocol::FastRelease::off;
    protocol::Timing& timing = options.node.config.timing;
    timing.step_down_timeout = request.step_down_timeout.asked().value_or(timing.step_down_timeout);
    return options;
}

}  // namespace

std::string joined(const Problems& problems) {
    std::string text;
    for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
    return text;
}

LibraryOptions library_options(const Options& options, Problems& problems) {
    return options_of(raw_values(options), problems);
}

LibraryOptions library_options(const char* const* names_and_values, Problems& problems) {
    return options_of(raw_values(names_and_values, problems), problems);
}

}  // namespace bullring
