#include "src/settings/reading.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <variant>

#include <unistd.h>

#include "protocol/values/durations.hpp"
#include "protocol/values/messages.hpp"

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

/// A limit of whole minutes is written in minutes.
std::string limit(std::int64_t ns) {
    constexpr std::int64_t minute = protocol::seconds(60).ns;
    return ns % minute == 0 ? std::to_string(ns / minute) + "m" : to_text(protocol::Duration{ns});
}

bool whole(const Text& text, std::int64_t& into, const char* or_else = "") {
    std::int64_t value = 0;
    const char* const end = text.text.data() + text.text.size();
    const auto [stop, error] = std::from_chars(text.text.data(), end, value);
    const bool is_number = stop == end && error != std::errc::invalid_argument;
    const auto& [low, high, off] = text.range;
    if (is_number && error == std::errc{} && value >= low && value <= high) {
        into = value;
        return true;
    }
    return text.refuse(std::string(is_number ? "is out of range" : why_not_whole(text.text)) +
                       "; expected a whole number, " + std::to_string(low) + " … " +
                       std::to_string(high) + or_else);
}

template <class Value, class Parsed>
bool take_parsed(const Text& text, const Parsed& parsed, Value& into) {
    if (parsed)
        into = *parsed;
    else
        text.report.say(text.flag, parsed.error());
    return parsed.has_value();
}

}  // namespace

// The words of the program's own enumerations.

const char* name(AttachMode mode) {
    switch (mode) {
        case AttachMode::on: return "on";
        case AttachMode::off: return "off";
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

const char* name(OnExit on_exit) {
    switch (on_exit) {
        case OnExit::stay: return "stay";
        case OnExit::vote: return "vote";
        case OnExit::leave: return "leave";
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

bool Text::refuse(const std::string& why) const {
    report.refuse(flag, text, why);
    return false;
}

bool take_blanks_away(Text& text) {
    const std::string bare(trimmed(text.text));
    const bool quoted = bare.size() > 1 && (bare.front() == '"' || bare.front() == '\'') &&
                        bare.front() == bare.back();
    if (quoted) return text.refuse("has quotes in it; expected the value without them");
    text.text = bare;
    return true;
}

bool take(const Text& text, std::string& into) {
    into = text.text;
    return true;
}

bool one_word(const Text& text, std::string& into) { return take(text, into); }

bool cluster_name(const Text& text, std::string& into) {
    const std::string& name = text.text;
    // The name is a directory's name too, so "." and ".." can't be one.
    const bool right = !name.empty() && name.size() <= protocol::cluster_name_bytes_max &&
                       name != "." && name != ".." &&
                       std::all_of(name.begin(), name.end(), fits_cluster_name);
    if (right) return take(text, into);
    return text.refuse("is not a cluster's name; expected 1 … 64 letters, digits, '.', '_' or '-'");
}

bool take(const Text& text, bool& into) {
    const auto on = boolean_named(text.text);
    if (!on) return text.refuse("is neither on nor off; expected on, off, true or false");
    into = *on;
    return true;
}

bool take(const Text& text, std::int64_t& into) { return whole(text, into); }

bool take(const Text& text, protocol::NodeId& into) {
    return take_parsed(text, parse_node_id(text.text), into);
}

bool own_id(const Text& text, protocol::NodeId& into) {
    if (in_small_letters(text.text) != "hostname") return take(text, into);
    const auto parsed = node_id_of_host(host_name());
    if (parsed) return take_parsed(text, parsed, into);
    text.report.say(text.flag, parsed.error(), true);  // a machine may get its name at its start
    return false;
}

bool take(const Text& text, protocol::Priority& into) {
    if (in_small_letters(text.text) == "never") {
        into = protocol::Priority::never();
        return true;
    }
    std::int64_t value = 0;
    if (!whole(text, value, ", or never")) return false;
    into = {static_cast<std::int32_t>(value)};
    return true;
}

bool take(const Text& text, protocol::Duration& into) {
    const auto& [low, high, off] = text.range;
    const std::string or_off = off ? ", or off" : "";
    if (off && in_small_letters(text.text) == "off") {
        into = {};
        return true;
    }
    const auto parsed = protocol::parse_duration(text.text);
    if (const auto* none = std::get_if<protocol::NoDuration>(&parsed))
        return text.refuse(why_no_duration(*none) + or_off);
    const auto duration = std::get<protocol::Duration>(parsed);
    if (duration.ns == 0 && low > 0) return text.refuse("must be more than 0" + or_off);
    if (duration.ns < low)
        return text.refuse("is too short; expected at least " + limit(low) + or_off);
    if (duration.ns > high)
        return text.refuse("is too long; expected at most " + limit(high) + or_off);
    into = duration;
    return true;
}

bool switch_or_time(const Text& text, bool& into) {
    const auto parsed = protocol::parse_duration(text.text);
    const auto* time = std::get_if<protocol::Duration>(&parsed);
    if (time == nullptr) return take(text, into);
    into = time->ns > 0;
    return true;
}

bool time_or_off(const Text& text, protocol::Duration& into) {
    return in_small_letters(text.text) == "off" || take(text, into);
}

bool time_or_0(const Text& text, protocol::Duration& into) {
    if (text.text != "0") return take(text, into);
    into = {};
    return true;
}

bool take(const Text& text, Endpoint& into) {
    return take_parsed(text, parse_endpoint(text.text), into);
}

bool take(const Text& text, std::vector<Endpoint>& into) {
    into.clear();
    std::string_view rest = text.text;
    for (bool more = true; more;) {
        const std::size_t comma = std::min(rest.find_first_of(",\n"), rest.size());
        const std::string_view entry = trimmed(rest.substr(0, comma));
        more = comma < rest.size();
        rest.remove_prefix(more ? comma + 1 : comma);
        if (entry.empty() && !into.empty() && !more) break;  // the comma behind the last one
        if (const auto endpoint = parse_endpoint(entry))
            into.push_back(*endpoint);
        else
            text.report.say(text.flag, endpoint.error());
    }
    return true;
}

bool take(const Text& text, PeerList& into) {
    ParsedPeers parsed = read_peers(text.text);
    for (const std::string& problem : parsed.problems)
        text.report.say(text.flag, problem, parsed.passes);
    into = std::move(parsed.peers);
    return true;
}

}  // namespace bullring
