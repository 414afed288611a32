// The fields of a line of a trace behind its time, in the order of the line.
#pragma once

#include <string_view>
#include <variant>

#include "protocol/trace/trace_item.hpp"
#include "protocol/trace/trace_json.hpp"

namespace bullring::protocol {

inline void add_priority(JsonLine& line, Priority priority) {
    if (priority.is_never()) {
        line.text("priority", "never");
    } else {
        line.number("priority", priority.value);
    }
}

inline void add_walk(JsonLine& line, const Walk& walk) {
    line.number("owner", walk.owner.value);
    line.number("round", walk.round);
    line.number("step", walk.step);
    line.number("visited", walk.visited.bits());
}

/// The message's own fields, behind "kind".
struct MessageFields {
    JsonLine& line;

    void operator()(const Hello& m) const {
        line.number("id", m.id.value);
        line.number("hello_session", m.session.value);
        add_priority(line, m.priority);
        line.number("lease_ns", m.lease.ns);
        line.text("fast_release", name(m.fast_release));
    }
    void operator()(const HelloAck& m) const {
        line.number("id", m.id.value);
        line.number("max_seen", m.max_seen.value);
        line.flag("recovering", m.recovering);
    }
    void operator()(const Refused& m) const {
        line.text("field", m.field);
        line.text("mine", m.mine);
        line.text("yours", m.yours);
    }
    void operator()(const Heartbeat& m) const {
        line.number("epoch", m.leader_epoch.value);
        line.id("leader", m.leader);
        line.flag("leader_announced", m.leader_announced);
        line.number("remaining_ns", m.leader_remaining.ns);
        line.number("heard", m.heard.bits());
        line.flag("quorum_connected", m.quorum_connected);
        line.flag("eligible", m.eligible);
        line.flag("recovering", m.recovering);
        line.flag("stepping_down", m.stepping_down);
        if (m.work != Work::own) line.text("work", name(m.work));
        if (!m.advertised.empty()) line.text("advertised", m.advertised);
        line.number("max_seen", m.max_seen.value);
    }
    void operator()(const Election& m) const { line.number("attempt", m.attempt); }
    void operator()(const Ok& m) const { line.number("attempt", m.attempt); }
    void operator()(const Decline& m) const { line.number("attempt", m.attempt); }
    void operator()(const LeaderIs& m) const {
        line.number("epoch", m.epoch.value);
        line.number("attempt", m.attempt);
        line.id("leader", m.leader);
        line.number("remaining_ns", m.remaining.ns);
    }
    void operator()(const Coordinator& m) const {
        line.number("epoch", m.epoch.value);
        line.flag("renew", m.renew);
        line.number("lease_ns", m.lease.ns);
        line.flag("tie", m.tie);
    }
    void operator()(const Grant& m) const {
        line.number("epoch", m.epoch.value);
        line.number("lease_ns", m.lease.ns);
        line.number("tied_session", m.tied_session.value);
    }
    void operator()(const Nack& m) const {
        line.number("epoch", m.epoch.value);
        line.text("reason", name(m.reason));
        line.id("promise_holder", m.promise_holder);
        line.number("promised_epoch", m.promised_epoch.value);
        line.number("remaining_ns", m.remaining.ns);
        line.flag("parked", m.parked);
    }
    void operator()(const Resign& m) const {
        line.number("epoch", m.epoch.value);
        line.id("successor", m.successor);
    }
    void operator()(const Token& m) const {
        add_walk(line, m.walk);
        line.number("max_seen", m.max_seen.value);
    }
    void operator()(const TokenAck& m) const {
        line.number("owner", m.owner.value);
        line.number("round", m.round);
        line.number("step", m.step);
    }
    void operator()(const CoordinatorToken& m) const {
        (*this)(m.request);
        add_walk(line, m.walk);
        const auto voter = [](const auto& answer) { return answer.voter.value; };
        line.list("grants", m.grants, voter);
        line.list("nacks", m.nacks, voter);
    }
};

inline void add_message(JsonLine& line, const TraceEntry& entry, const Message& message) {
    line.number("node", entry.node.value);
    line.incarnation("incarnation", entry.incarnation);
    line.text("dir", entry.direction == TraceDirection::send ? "send" : "recv");
    line.id("peer", entry.peer);
    line.incarnation("peer_incarnation", entry.peer_incarnation);
    line.number("session", entry.session.value);
    line.number("index", entry.index);
    line.text("kind", name(message));
    std::visit(MessageFields{line}, message);
}

inline void begin_event(JsonLine& line, NodeId node, Incarnation incarnation,
                        std::string_view kind) {
    line.id("node", node);
    line.incarnation("incarnation", incarnation);
    line.text("dir", "event");
    line.text("kind", kind);
}

inline void add_mark(JsonLine& line, const TraceMark& mark) {
    begin_event(line, mark.node, mark.incarnation, mark.kind);
    if (mark.peer) line.number("peer", mark.peer.value);
    if (mark.leader) line.id("leader", *mark.leader);
    if (mark.epoch) line.number("epoch", mark.epoch->value);
    if (mark.role) line.text("role", name(*mark.role));
    if (mark.grants) line.number("grants", *mark.grants);
    if (mark.until) {
        line.number("until_ns", mark.until->boottime_ns);
        line.number("until_raw_ns", mark.until->raw_ns);
    }
    if (!mark.reason.empty()) line.text("reason", mark.reason);
}

}  // namespace bullring::protocol
