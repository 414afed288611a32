#include "protocol/diagram/record.hpp"

#include <algorithm>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "protocol/diagram/words.hpp"
#include "protocol/trace/trace_fields.hpp"

namespace bullring::protocol::diagram {

namespace {

/// FNV-1a.
std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xCBF2'9CE4'8422'2325ULL;
    for (const char c : text)
        value = (value ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3ULL;
    return value;
}

std::int64_t time_of(const TraceTime& time) {
    const std::int64_t ns =
        time.true_ns ? *time.true_ns : (time.at ? time.at->boottime_ns : std::int64_t{0});
    return std::clamp(ns, -trace_time_max, trace_time_max);
}

/// Takes the fields of a line (see JsonLine) into a record, and all behind "kind" into its detail.
class RecordLine {
public:
    explicit RecordLine(TraceRecord& record) : record_(record) {}

    template <std::integral T>
    void number(std::string_view name, T value) {
        set(name, static_cast<std::uint64_t>(value));
        const bool time = name.ends_with("_ns");
        if (!time || name.starts_with("until")) return tell(name, std::to_string(value));
        tell(name.substr(0, name.size() - 3), rounded_duration(static_cast<std::int64_t>(value)));
    }
    void flag(std::string_view name, bool value) {
        if (name == "renew") record_.renew = value;
        tell(name, value ? "true" : "false");
    }
    void text(std::string_view name, std::string_view value) {
        if (name == "dir") {
            record_.what = value == "send"   ? RecordKind::send
                           : value == "recv" ? RecordKind::recv
                                             : RecordKind::event;
        } else if (name == "kind") {
            record_.kind = value;
            behind_kind_ = true;
        } else {
            if (name == "role" || (name == "reason" && record_.word.empty())) record_.word = value;
            tell(name, value);
        }
    }
    void id(std::string_view name, NodeId value) {
        set(name, value.value);
        tell(name, value ? std::to_string(value.value) : "null");
    }
    void incarnation(std::string_view name, Incarnation value) {
        (name == "incarnation" ? record_.incarnation : record_.peer_incarnation) = value.value;
    }
    template <class Items, class NumberOf>
    void list(std::string_view name, const Items& items, NumberOf number_of) {
        std::string all;
        for (const auto& item : items)
            all += (all.empty() ? "" : ",") + std::to_string(number_of(item));
        tell(name, "[" + all + "]");
    }

private:
    void set(std::string_view name, std::uint64_t value) {
        if (name == "node") record_.node = value;
        if (name == "peer") record_.peer = value;
        if (name == "epoch") record_.epoch = value;
        if (record_.what == RecordKind::event) {
            if (name == "leader") record_.leader = value;
            if (name == "grants") record_.grants = value;
            return;
        }
        if (name == "session") record_.session = value;
        if (name == "index") record_.index = value;
        if (name == "owner") record_.owner = value;
        if (name == "round") record_.round = value;
        if (name == "step") record_.step = value;
    }

    void tell(std::string_view name, std::string_view value) {
        if (!behind_kind_ || record_.kind == "HB") return;
        if (!record_.detail.empty()) record_.detail += ", ";
        record_.detail += name;
        record_.detail += ' ';
        record_.detail += value;
    }

    TraceRecord& record_;
    bool behind_kind_ = false;
};

}  // namespace

TraceRecord record_of(const TraceItem& item) {
    TraceRecord record;
    RecordLine line(record);
    if (const auto* traced = std::get_if<TracedMessage>(&item)) {
        add_message(line, traced->entry, traced->message);
        record.t_ns = time_of(traced->entry.time);
        record.body = hash(record.kind + record.detail);
        return record;
    }
    const TraceMark& mark = *std::get_if<TraceMark>(&item);
    add_mark(line, mark);
    record.t_ns = time_of(mark.time);
    if (record.kind == "publish" && mark.until && mark.time.at) {
        record.lease_left_ns =
            std::clamp(std::min(mark.until->boottime_ns - mark.time.at->boottime_ns,
                                mark.until->raw_ns - mark.time.at->raw_ns),
                       -trace_time_max, trace_time_max);
    }
    return record;
}

}  // namespace bullring::protocol::diagram
