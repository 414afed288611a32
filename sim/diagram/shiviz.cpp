// The export for ShiViz.

#include <fmt/format.h>

#include "sim/diagram/formats.hpp"

namespace bullring::sim::diagram {

namespace {

constexpr const char* expression = R"((?<host>\S*) (?<clock>{.*})\n(?<event>.*))";

std::string host(const Model& model, Place place) { return "node" + model.lanes[place].name; }

std::string clock_json(const Model& model, const ClockedEvent& event) {
    std::string json = "{";
    for (Place place = 0; place < event.clock.size(); ++place) {
        if (event.clock[place] == 0) continue;
        if (json.size() > 1) json += ", ";
        json += fmt::format("\"{}\":{}", host(model, place), event.clock[place]);
    }
    return json + "}";
}

/// One line; ShiViz's expression ends at a line break.
std::string one_line(std::string text) {
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return text;
}

}  // namespace

std::string write_shiviz(const Model& model, Window window, bool heartbeats) {
    std::string out = std::string(expression) + "\n\n";
    const auto events = vector_clocks(model.trace.records, model.matching,
                                      select_records(model, window, heartbeats), model.place_of,
                                      model.lanes.size());
    for (const ClockedEvent& event : events) {
        const TraceRecord& record = model.trace.records[event.record];
        std::string what = record.kind;
        if (record.what != RecordKind::event) {
            what += record.what == RecordKind::send ? " to node" : " from node";
            what += std::to_string(record.peer);
        }
        if (!record.detail.empty()) what += ": " + record.detail;
        what += fmt::format(" at {:.6f} ms", static_cast<double>(record.t_ns - model.begin) / 1e6);
        out += fmt::format("{} {}\n{}\n", host(model, event.place), clock_json(model, event),
                           one_line(std::move(what)));
    }
    return out;
}

}  // namespace bullring::sim::diagram
