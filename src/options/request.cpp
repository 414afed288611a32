#include "src/options/request.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <variant>

#include <unistd.h>

#include "protocol/values/messages.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

bool fits_cluster_name(char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// As the system has it; empty when it does not say.
std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string why_no_duration(const protocol::NoDuration& none) {
    std::string why(none.why);
    if (!none.part.empty()) why += " " + in_quotes(none.part);
    if (!none.right.empty()) why += "; expected " + std::string(none.right);
    return why;
}

}  // namespace

// The words of the program's own enumerations.

const char* name(LogLevel level) {
    switch (level) {
        case LogLevel::trace: return "trace";
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
    }
    return protocol::no_name;
}

const char* name(LogFormat format) {
    switch (format) {
        case LogFormat::text: return "text";
        case LogFormat::json: return "json";
    }
    return protocol::no_name;
}

const char* name(RealtimeMode mode) {
    switch (mode) {
        case RealtimeMode::on: return "on";
        case RealtimeMode::off: return "off";
        case RealtimeMode::automatic: return "auto";
    }
    return protocol::no_name;
}

const char* name(SecurityMode mode) {
    switch (mode) {
        case SecurityMode::none: return "none";
        case SecurityMode::key: return "key";
        case SecurityMode::tls: return "tls";
    }
    return protocol::no_name;
}

std::optional<bool> boolean_named(std::string_view word) {
    const std::string lowered = in_small_letters(word);
    for (const std::string_view on : {"on", "true", "yes", "1"})
        if (lowered == on) return true;
    for (const std::string_view off : {"off", "false", "no", "0"})
        if (lowered == off) return false;
    return std::nullopt;
}

void report(Problems& problems, const std::string& subject, const std::string& what) {
    problems.push_back(subject + ": " + what);
}

void Report::say(std::string_view flag, const std::string& what) {
    const auto found = values_.find(flag);
    report(problems_, found == values_.end() ? this->flag(flag) : found->second.origin, what);
}

void Report::refuse(std::string_view flag, std::string_view value, const std::string& why) {
    say(flag, in_quotes(value) + " " + why);
}

void Report::require(std::string_view flag, bool given, const std::string& right) {
    if (!given) say(flag, "it is missing; expected " + right);
}

std::optional<std::string> Reader::text(std::string_view flag) const {
    const auto found = values_.find(flag);
    if (found == values_.end() || !found->second.usable) return std::nullopt;
    std::string text = found->second.text;
    // The line end of another system, of which a file of variables leaves one half.
    if (text.ends_with('\r')) text.pop_back();
    return text;
}

std::optional<std::string> Reader::word(std::string_view flag) {
    const auto given = text(flag);
    if (!given) return std::nullopt;
    const std::string_view bare = trimmed(*given);
    const bool quoted = bare.size() > 1 && (bare.front() == '"' || bare.front() == '\'') &&
                        bare.front() == bare.back();
    if (!quoted) return std::string(bare);
    report_.refuse(flag, *given, "has quotes in it; expected the value without them");
    return std::nullopt;
}

void Reader::take_cluster(const std::string& name, std::optional<std::string>& into) {
    // The name is a directory's name too, so "." and ".." can't be one.
    const bool right = !name.empty() && name.size() <= protocol::cluster_name_bytes_max &&
                       name != "." && name != ".." &&
                       std::all_of(name.begin(), name.end(), fits_cluster_name);
    if (right)
        into = name;
    else
        report_.refuse("cluster", name,
                       "is not a cluster's name; expected 1 … 64 letters, digits, '.', '_' or '-'");
}

LogOptions Reader::log() {
    LogOptions options;
    (*this)("log-level", options.level);
    (*this)("log-format", options.format);
    return options;
}

void Reader::take(std::string_view flag, const std::string& text, const WholeNumber& number,
                  std::optional<std::int64_t>& into) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool is_number = stop == end && error != std::errc::invalid_argument;
    if (is_number && error == std::errc{} && value >= number.low && value <= number.high) {
        into = value;
        return;
    }
    const char* const why = is_number ? "is out of range" : why_not_whole(text);
    report_.refuse(flag, text, std::string(why) + "; expected " + number.right);
}

void Reader::take(std::string_view, const std::string& text, std::optional<std::string>& into) {
    into = text;
}

void Reader::take(std::string_view flag, const std::string& text, std::optional<bool>& into) {
    into = boolean_named(text);
    if (!into) report_.refuse(flag, text, "is neither on nor off; expected on, off, true or false");
}

void Reader::take(std::string_view flag, const std::string& text,
                  std::optional<protocol::NodeId>& into) {
    // A member of the list is named by its number alone.
    const bool by_host = flag == "id" && in_small_letters(text) == "hostname";
    const auto parsed = by_host ? node_id_of_host(host_name()) : parse_node_id(text);
    if (parsed)
        into = *parsed;
    else
        report_.say(flag, parsed.error());
}

void Reader::take(std::string_view flag, const std::string& text,
                  std::optional<protocol::Priority>& into) {
    if (in_small_letters(text) == "never") {
        into = protocol::Priority::never();
        return;
    }
    std::optional<std::int64_t> value;
    take(flag, text, priorities, value);
    if (value) into = protocol::Priority{static_cast<std::int32_t>(*value)};
}

void Reader::take(std::string_view flag, const std::string& text,
                  std::optional<protocol::Duration>& into) {
    const auto parsed = protocol::parse_duration(text);
    if (const auto* duration = std::get_if<protocol::Duration>(&parsed))
        into = *duration;
    else
        report_.refuse(flag, text, why_no_duration(std::get<protocol::NoDuration>(parsed)));
}

void Reader::positive_or_off(std::string_view flag, Asked<protocol::Duration>& into) {
    into = {given(flag), std::nullopt};
    const auto found = word(flag);
    if (!found) return;
    const auto parsed = protocol::parse_duration(*found);
    const auto* duration = std::get_if<protocol::Duration>(&parsed);
    if (in_small_letters(*found) == "off")
        into.value = protocol::Duration{0};
    else if (duration == nullptr)
        report_.refuse(flag, *found,
                       why_no_duration(std::get<protocol::NoDuration>(parsed)) + ", or off");
    else if (duration->ns == 0)
        report_.refuse(flag, *found, "must be more than 0, or off");
    else
        into.value = *duration;
}

void Reader::take(std::string_view flag, const std::string& text, std::optional<Endpoint>& into) {
    if (const auto parsed = parse_endpoint(text))
        into = *parsed;
    else
        report_.say(flag, parsed.error());
}

void Reader::take(std::string_view flag, const std::string& text, std::optional<PeerList>& into) {
    ParsedPeers parsed = read_peers(text);
    for (const std::string& problem : parsed.problems) report_.say(flag, problem);
    into = std::move(parsed.peers);
}

namespace {

void read_health(Reader& read, Report& report, HealthOptions& health) {
    constexpr WholeNumber failures{1, 1000, "a whole number, 1 … 1000"};
    read("health-cmd", health.command);
    read.positive("health-interval", health.interval);
    read.positive("health-timeout", health.timeout);
    read.whole("health-failures", failures, health.failures);
    if (!health.command.empty()) return;
    if (read.text("health-cmd")) report.refuse("health-cmd", "", "names no command");
    for (const std::string_view flag : {"health-interval", "health-timeout", "health-failures"})
        if (read.given(flag)) report.say(flag, "it needs --health-cmd CMD, which is not given");
}

}  // namespace

MemberRequest member_request(Reader& read, Report& report) {
    MemberRequest request;
    NodeOptions& options = request.options;
    read("id", request.id);
    read("peers", request.peers);
    read("listen", request.listen);
    read.cluster(options.config.cluster);
    read("algorithm", request.algorithm);
    read("quorum", options.config.quorum);
    read("priority", options.config.priority);
    read("preempt", request.preempt);
    read("advertise", options.config.advertised);
    read("profile", request.profile);
    read.positive("heartbeat", request.heartbeat);
    read.positive("suspect-after", request.suspect_after);
    read.positive("lease", request.lease);
    read.positive("lease-max", request.lease_max);
    read("preempt-delay", request.preempt_delay);
    read("bootstrap-wait", options.config.bootstrap_wait);
    read("first-epoch", options.config.first_epoch);
    read("realtime", options.realtime);
    read("events", options.events_file);
    read("trace", options.trace_file);
    HttpTexts http{read.word("http"), {}, read.text("http-token-file")};
    read("http-public", http.open_to_all);
    options.http = http_options(http, report);
    read("on-elected", options.hooks.on_elected);
    read("on-deposed", options.hooks.on_deposed);
    read("on-change", options.hooks.on_change);
    read("fast-release", request.fast_release);
    read.positive_or_off("hang-after", request.hang_after);
    read("allow-drill", options.allow_drill);
    read_health(read, report, options.health);
    read("data-dir", request.data_dir);
    request.security = security_request(read);
    options.log = read.log();
    return request;
}

}  // namespace bullring
