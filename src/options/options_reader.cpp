#include "src/options/options_reader.hpp"

#include <algorithm>
#include <charconv>

#include "protocol/messages.hpp"
#include "src/options/duration_text.hpp"
#include "src/options/peer_list.hpp"
#include "src/options/text.hpp"

namespace bullring {

namespace {

bool fits_cluster_name(char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

const RawValue* OptionReader::find(std::string_view flag) const {
    const auto found = values_.find(flag);
    return found == values_.end() || !found->second.usable ? nullptr : &found->second;
}

std::string OptionReader::origin(std::string_view flag) const {
    const auto found = values_.find(flag);
    return found == values_.end() ? "--" + std::string(flag) : found->second.origin;
}

void OptionReader::report(std::string_view flag, const std::string& what) {
    bullring::report(problems_, origin(flag), what);
}

void OptionReader::refuse(std::string_view flag, const std::string& why) {
    const RawValue* value = find(flag);
    report(flag, in_quotes(value == nullptr ? "" : value->text) + " " + why);
}

void OptionReader::require(std::string_view flag, const std::string& right) {
    if (!given(flag)) report(flag, "it is missing; right is " + right);
}

std::optional<std::string> OptionReader::text(std::string_view flag) const {
    const RawValue* value = find(flag);
    return value == nullptr ? std::nullopt : std::optional(value->text);
}

std::optional<bool> OptionReader::boolean(std::string_view flag) {
    const RawValue* value = find(flag);
    if (value == nullptr) return std::nullopt;
    const std::optional<bool> meaning = boolean_named(value->text);
    if (!meaning) refuse(flag, "is neither on nor off");
    return meaning;
}

std::optional<protocol::Duration> OptionReader::duration(std::string_view flag) {
    const RawValue* value = find(flag);
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_duration(value->text);
    if (parsed) return *parsed;
    report(flag, parsed.error());
    return std::nullopt;
}

std::optional<protocol::Duration> OptionReader::positive_duration(std::string_view flag) {
    const auto parsed = duration(flag);
    if (parsed && parsed->ns == 0) {
        refuse(flag, "must be more than 0");
        return std::nullopt;
    }
    return parsed;
}

std::optional<std::int64_t> OptionReader::integer(std::string_view flag, std::int64_t low,
                                                  std::int64_t high, const char* right) {
    const RawValue* value = find(flag);
    if (value == nullptr) return std::nullopt;
    std::int64_t number = 0;
    const char* const end = value->text.data() + value->text.size();
    const auto [stop, error] = std::from_chars(value->text.data(), end, number);
    const bool is_number = stop == end && error != std::errc::invalid_argument;
    if (is_number && error == std::errc{} && number >= low && number <= high) return number;
    const char* const why = is_number ? "is out of range" : "is not a number";
    refuse(flag, std::string(why) + "; right is " + right);
    return std::nullopt;
}

std::optional<protocol::NodeId> OptionReader::node_id(std::string_view flag) {
    const RawValue* value = find(flag);
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_node_id(value->text);
    if (parsed) return *parsed;
    report(flag, parsed.error());
    return std::nullopt;
}

std::optional<Endpoint> OptionReader::endpoint(std::string_view flag) {
    const RawValue* value = find(flag);
    if (value == nullptr) return std::nullopt;
    const auto parsed = parse_endpoint(value->text);
    if (parsed) return *parsed;
    report(flag, parsed.error());
    return std::nullopt;
}

PeerList OptionReader::peers() {
    const RawValue* value = find("peers");
    if (value == nullptr) return {};
    const ParsedPeers parsed = read_peers(value->text);
    for (const std::string& problem : parsed.problems) report("peers", problem);
    return parsed.peers;
}

std::string OptionReader::cluster() {
    const RawValue* value = find("cluster");
    if (value == nullptr) return "bullring";
    const std::string& name = value->text;
    // The name is a directory's name too, so "." and ".." can't be one.
    const bool right = !name.empty() && name.size() <= protocol::cluster_name_bytes_max &&
                       name != "." && name != ".." &&
                       std::all_of(name.begin(), name.end(), fits_cluster_name);
    if (right) return name;
    refuse("cluster", "is not a cluster's name; right are 1 … 64 letters, digits, '.', '_' or '-'");
    return "bullring";
}

LogOptions OptionReader::log() {
    LogOptions options;
    options.level = word<LogLevel>("log-level", {{"trace", LogLevel::trace},
                                                 {"debug", LogLevel::debug},
                                                 {"info", LogLevel::info},
                                                 {"warn", LogLevel::warn},
                                                 {"error", LogLevel::error}})
                        .value_or(options.level);
    options.format =
        word<LogFormat>("log-format", {{"text", LogFormat::text}, {"json", LogFormat::json}})
            .value_or(options.format);
    return options;
}

}  // namespace bullring
