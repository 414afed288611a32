#include "sim/commands/trace_observer.hpp"

namespace bullring::sim {

using namespace protocol;

TraceRecorder& TraceObserver::recorder(const World& world, HostIndex h) {
    const Host& host = world.host(h);
    while (recorders_.size() <= h)
        recorders_.emplace_back(Incarnation{}, TraceRecorder(nobody, Incarnation{}));
    if (recorders_[h].first != host.incarnation)
        recorders_[h] = {host.incarnation, TraceRecorder(host.id, host.incarnation)};
    return recorders_[h].second;
}

void TraceObserver::note_begin(const World& world) {
    if (!began_) began_ = world.now();
}

void TraceObserver::before_step(const World& world, HostIndex h, Instant now, const Event& event) {
    note_begin(world);
    recorder(world, h).on_event({now, world.now()}, event, text_);
}

void TraceObserver::on_action(const World& world, HostIndex h, Instant now, const Action& action) {
    note_begin(world);
    recorder(world, h).on_action({now, world.now()}, action, text_);
}

void TraceObserver::on_incident(const World& world, const Incident& incident) {
    note_begin(world);
    const Host& host = world.host(incident.host);
    const TraceTime time{world.clock(incident.host), world.now()};
    if (incident.kind == "start")
        return recorder(world, incident.host).on_start(time, world.config(incident.host), text_);
    TraceMark mark;
    mark.time = time;
    mark.node = host.id;
    mark.incarnation = host.incarnation;
    mark.kind = incident.kind;
    if (incident.has_peer) mark.peer = world.host(incident.peer).id;
    append_trace_event(text_, mark);
}

std::vector<std::string> TraceObserver::lines() const {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text_.size();) {
        const std::size_t end = std::min(text_.find('\n', at), text_.size());
        lines.push_back(text_.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace bullring::sim
