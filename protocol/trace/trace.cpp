#include "protocol/trace/trace.hpp"

#include "protocol/trace/trace_fields.hpp"
#include "protocol/trace/trace_json.hpp"

namespace bullring::protocol {

namespace {

void add_time(JsonLine& line, const TraceTime& time) {
    if (time.true_ns) line.number("t_ns", *time.true_ns);
    if (!time.at) return;
    line.number("ts_ns", time.at->boottime_ns);
    line.number("raw_ns", time.at->raw_ns);
}

}  // namespace

void append_trace_line(std::string& out, const TraceEntry& entry, const Message& message) {
    JsonLine line(out);
    add_time(line, entry.time);
    add_message(line, entry, message);
    line.end();
}

std::string trace_line(const TraceEntry& entry, const Message& message) {
    std::string out;
    append_trace_line(out, entry, message);
    return out;
}

void append_trace_event(std::string& out, const TraceMark& mark) {
    JsonLine line(out);
    add_time(line, mark.time);
    add_mark(line, mark);
    line.end();
}

std::string trace_event_line(const TraceMark& mark) {
    std::string out;
    append_trace_event(out, mark);
    return out;
}

void append_trace_start(std::string& out, const TraceTime& time, Incarnation incarnation,
                        const Config& config) {
    JsonLine line(out);
    add_time(line, time);
    begin_event(line, config.self, incarnation, "start");
    line.text("algorithm", name(config.algorithm));
    line.text("quorum", name(config.quorum));
    line.list("members", config.members.ids(), [](NodeId id) { return id.value; });
    add_priority(line, config.priority);
    line.number("lease_ns", config.timing.lease.ns);
    line.number("heartbeat_ns", config.timing.heartbeat.ns);
    line.end();
}

}  // namespace bullring::protocol
