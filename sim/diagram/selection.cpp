#include "sim/diagram/selection.hpp"

namespace bullring::sim::diagram {

std::vector<std::size_t> select_records(const Model& model, Window window, bool heartbeats) {
    std::vector<bool> drawn(model.trace.records.size(), false);
    for (const Arrow& arrow : model.arrows) {
        if (!heartbeats && look_of(arrow.look).weight == Weight::background) continue;
        if (arrow.sending != no_record) drawn[arrow.sending] = true;
        if (arrow.receipt != no_record) drawn[arrow.receipt] = true;
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const TraceRecord& record = model.trace.records[i];
        if (record.t_ns < window.from || record.t_ns > window.to) continue;
        if (model.place_of[i] == no_place) continue;
        // An extension of the lease is as frequent as a heartbeat.
        const bool event = record.what == RecordKind::event;
        if (event ? record.kind != "publish" || heartbeats : bool{drawn[i]}) chosen.push_back(i);
    }
    return chosen;
}

}  // namespace bullring::sim::diagram
