#include "sim/diagram/trace_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/diagram/words.hpp"

namespace bullring::sim::diagram {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
    throw DiagramError(where + ": " + why);
}

/// The fields of one line, each checked when it is asked for.
class Fields {
public:
    Fields(const Json& line, const std::string& where) : line_(line), where_(where) {}

    bool has(const char* key) const { return line_.contains(key) && !line_.at(key).is_null(); }

    std::uint64_t number(const char* key) const {
        const Json& value = at(key);
        if (value.is_number_unsigned()) return value.get<std::uint64_t>();
        refuse(where_, fmt::format("\"{}\" is not a number from 0: {}", key, shortened(value)));
    }
    std::uint64_t number_or_0(const char* key) const { return has(key) ? number(key) : 0; }

    std::int64_t time(const char* key) const {
        const Json& value = at(key);
        if (!value.is_number_integer()) {
            refuse(where_, fmt::format("\"{}\" is not a whole number: {}", key, shortened(value)));
        }
        const bool huge = value.is_number_unsigned() &&
                          value.get<std::uint64_t>() > std::uint64_t{trace_time_max};
        const auto ns = value.get<std::int64_t>();
        if (huge || ns > trace_time_max || ns < -trace_time_max) {
            refuse(where_, fmt::format("\"{}\" is out of range: {}", key, shortened(value)));
        }
        return ns;
    }

    std::string text(const char* key) const {
        const Json& value = at(key);
        if (value.is_string()) return value.get<std::string>();
        refuse(where_, fmt::format("\"{}\" is not a text: {}", key, shortened(value)));
    }
    std::string text_or_empty(const char* key) const { return has(key) ? text(key) : ""; }

    bool flag(const char* key) const {
        return has(key) && line_.at(key).is_boolean() && line_.at(key).get<bool>();
    }

    /// A run's number as 16 hexadecimal digits; 0 when it is not there.
    std::uint64_t incarnation(const char* key) const {
        if (!has(key)) return 0;
        const std::string digits = text(key);
        std::uint64_t value = 0;
        const char* const end = digits.data() + digits.size();
        const auto done = std::from_chars(digits.data(), end, value, 16);
        if (digits.empty() || done.ec != std::errc() || done.ptr != end) {
            refuse(where_, fmt::format("\"{}\" is not a hexadecimal number: {}", key, digits));
        }
        return value;
    }

private:
    const Json& at(const char* key) const {
        if (!has(key)) refuse(where_, fmt::format("\"{}\" is missing", key));
        return line_.at(key);
    }
    static std::string shortened(const Json& value) {
        constexpr std::size_t most = 40;
        const std::string all = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        return all.size() <= most ? all : all.substr(0, most) + "…";
    }

    const Json& line_;
    const std::string& where_;
};

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xCBF2'9CE4'8422'2325ULL;
    for (const char c : text) {
        value = (value ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3ULL;
    }
    return value;
}

/// The part of a message's line that both ends write alike: everything from its kind on.
std::string_view body_of(std::string_view line) {
    const std::size_t at = line.find("\"kind\"");
    return at == std::string_view::npos ? line : line.substr(at);
}

std::string detail_of(const Json& line) {
    std::string text;
    bool behind_kind = false;
    for (const auto& [key, value] : line.items()) {
        if (behind_kind) {
            if (!text.empty()) text += ", ";
            const bool time = value.is_number_integer() && key.size() > 3 &&
                              key.compare(key.size() - 3, 3, "_ns") == 0;
            if (time && key.compare(0, 5, "until") == 0) {
                text += key + " " + value.dump();
            } else if (time) {
                text += key.substr(0, key.size() - 3) + " " +
                        rounded_duration(value.get<std::int64_t>());
            } else {
                text += key + " " +
                        (value.is_string()
                             ? value.get<std::string>()
                             : value.dump(-1, ' ', false, Json::error_handler_t::replace));
            }
        }
        behind_kind = behind_kind || key == "kind";
    }
    return text;
}

RecordKind kind_of(const Fields& fields, const std::string& where) {
    const std::string direction = fields.text("dir");
    if (direction == "send") return RecordKind::send;
    if (direction == "recv") return RecordKind::recv;
    if (direction == "event") return RecordKind::event;
    refuse(where, "\"dir\" is neither send, recv nor event: " + direction);
}

void read_message(const Fields& fields, std::string_view line, TraceRecord& record) {
    record.node = fields.number("node");
    record.incarnation = fields.incarnation("incarnation");
    record.peer_incarnation = fields.incarnation("peer_incarnation");
    record.session = fields.number("session");
    record.index = fields.number("index");
    record.body = hash(body_of(line));
    record.renew = fields.flag("renew");
    record.owner = fields.number_or_0("owner");
    record.round = fields.number_or_0("round");
    record.step = fields.number_or_0("step");
    record.word = fields.text_or_empty("reason");
}

void read_event(const Fields& fields, TraceRecord& record) {
    record.node = fields.number_or_0("node");
    record.incarnation = fields.incarnation("incarnation");
    record.leader = fields.number_or_0("leader");
    record.grants = fields.number_or_0("grants");
    record.word = fields.has("role") ? fields.text("role") : fields.text_or_empty("reason");
    if (record.kind != "publish" || !fields.has("until_ns")) return;
    // An end is the node's own clocks' word: only how far off it is has a meaning elsewhere.
    std::int64_t left = fields.time("until_ns") - fields.time("ts_ns");
    if (fields.has("until_raw_ns")) {
        left = std::min(left, fields.time("until_raw_ns") - fields.time("raw_ns"));
    }
    record.lease_left_ns = left;
}

/// A killed process may leave half a line, and the next run goes on behind it.
std::size_t second_beginning(std::string_view line) {
    constexpr std::array<std::string_view, 2> beginnings{"{\"ts_ns\":", "{\"t_ns\":"};
    std::size_t found = std::string_view::npos;
    for (const std::string_view beginning : beginnings) {
        const std::size_t at = line.rfind(beginning);
        if (at != std::string_view::npos && at > 0 &&
            (found == std::string_view::npos || at > found)) {
            found = at;
        }
    }
    return found;
}

}  // namespace

void TraceReader::add_file(std::string_view text, const std::string& name) {
    const auto [before, is_new] =
        first_lines_.try_emplace(std::string(text.substr(0, text.find('\n'))), name);
    if (!is_new && !text.empty())
        throw DiagramError(fmt::format("{} is the same trace as {}: each may be given once", name,
                                       before->second));
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        const std::string where = fmt::format("{}:{}", name, number);
        if (end == std::string_view::npos && !Json::accept(line)) {
            trace_.notes.push_back(where + ": the last line is not complete and was left out");
        } else {
            add_line(line, where);
        }
    }
}

void TraceReader::add_line(std::string_view line, const std::string& where) {
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' ')) {
        line.remove_suffix(1);
    }
    if (line.empty()) return;
    const std::size_t torn = second_beginning(line);
    if (torn != std::string_view::npos && !Json::accept(line)) {
        trace_.notes.push_back(where + ": begins with a line that was not finished; left out");
        line.remove_prefix(torn);
    }
    read_line(line, where);
}

void TraceReader::read_line(std::string_view line, const std::string& where) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) refuse(where, "not JSON");
    if (!json.is_object()) refuse(where, "not an object");
    const Fields fields(json, where);
    TraceRecord record;
    const bool true_time = fields.has("t_ns");
    record.t_ns = fields.time(true_time ? "t_ns" : "ts_ns");
    (true_time ? trace_.true_time : without_true_time_) = true;
    if (trace_.true_time && without_true_time_) {
        refuse(where, "lines of a simulator (\"t_ns\") and of real nodes can't be drawn together");
    }
    record.what = kind_of(fields, where);
    record.kind = fields.text("kind");
    record.peer = fields.number_or_0("peer");
    record.epoch = fields.number_or_0("epoch");
    if (record.what == RecordKind::event) {
        read_event(fields, record);
        if (record.kind == "start") read_start(json, where);
    } else {
        read_message(fields, line, record);
    }
    if (record.kind != "HB") record.detail = detail_of(json);
    trace_.records.push_back(std::move(record));
}

void TraceReader::read_start(const Json& line, const std::string& where) {
    const Fields fields(line, where);
    if (trace_.algorithm.empty()) trace_.algorithm = fields.text_or_empty("algorithm");
    if (trace_.quorum.empty()) trace_.quorum = fields.text_or_empty("quorum");
    if (fields.has("heartbeat_ns")) {
        trace_.heartbeat_ns = std::max(trace_.heartbeat_ns, fields.time("heartbeat_ns"));
    }
    if (!line.contains("members") || !line.at("members").is_array()) return;
    for (const Json& member : line.at("members")) {
        if (member.is_number_unsigned()) {
            trace_.members.push_back(member.get<std::uint64_t>());
        }
    }
    std::sort(trace_.members.begin(), trace_.members.end());
    trace_.members.erase(std::unique(trace_.members.begin(), trace_.members.end()),
                         trace_.members.end());
}

Trace TraceReader::take() {
    if (trace_.records.empty()) throw DiagramError("the trace is empty");
    return std::exchange(trace_, {});
}

}  // namespace bullring::sim::diagram
