#include "src/report/trace_file.hpp"

#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bullring {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(protocol::Incarnation incarnation) {
    return fmt::format("{:016x}", incarnation.value);
}

const char* word(protocol::NackReason reason) {
    switch (reason) {
        case protocol::NackReason::busy: return "busy";
        case protocol::NackReason::stale: return "stale";
        case protocol::NackReason::recovering: return "recovering";
        case protocol::NackReason::reserved: return "reserved";
        case protocol::NackReason::lease_too_long: return "lease_too_long";
    }
    return "unknown";
}

Json id_or_null(protocol::NodeId id) { return id ? Json(id.value) : Json(nullptr); }

void add(Json& line, const protocol::Hello& m) {
    line["id"] = m.id.value;
    line["hello_session"] = m.session.value;
    line["priority"] = m.priority.is_never() ? Json("never") : Json(m.priority.value);
    line["lease_ns"] = m.lease.ns;
    line["release_ok"] = m.release_ok;
}

void add(Json& line, const protocol::HelloAck& m) {
    line["id"] = m.id.value;
    line["max_seen"] = m.max_seen.value;
    line["hw"] = m.hw.value;
    line["recovering"] = m.recovering;
}

void add(Json& line, const protocol::Refused& m) {
    line["field"] = m.field;
    line["mine"] = m.mine;
    line["yours"] = m.yours;
}

void add(Json& line, const protocol::Heartbeat& m) {
    line["epoch"] = m.leader_epoch.value;
    line["leader"] = id_or_null(m.leader);
    line["leader_announced"] = m.leader_announced;
    line["remaining_ns"] = m.leader_remaining.ns;
    line["heard"] = m.heard.bits();
    line["quorum_connected"] = m.quorum_connected;
    line["eligible"] = m.eligible;
    line["recovering"] = m.recovering;
    line["stepping_down"] = m.stepping_down;
    line["max_seen"] = m.max_seen.value;
}

void add(Json& line, const protocol::Election& m) { line["attempt"] = m.attempt; }
void add(Json& line, const protocol::Ok& m) { line["attempt"] = m.attempt; }
void add(Json& line, const protocol::Decline& m) { line["attempt"] = m.attempt; }

void add(Json& line, const protocol::LeaderIs& m) {
    line["epoch"] = m.epoch.value;
    line["attempt"] = m.attempt;
    line["leader"] = id_or_null(m.leader);
    line["remaining_ns"] = m.remaining.ns;
}

void add(Json& line, const protocol::Coordinator& m) {
    line["epoch"] = m.epoch.value;
    line["renew"] = m.renew;
    line["lease_ns"] = m.lease.ns;
    line["tie"] = m.tie;
}

void add(Json& line, const protocol::Grant& m) {
    line["epoch"] = m.epoch.value;
    line["lease_ns"] = m.lease.ns;
    line["tied_session"] = m.tied_session.value;
}

void add(Json& line, const protocol::Nack& m) {
    line["epoch"] = m.epoch.value;
    line["reason"] = word(m.reason);
    line["promise_holder"] = id_or_null(m.promise_holder);
    line["promised_epoch"] = m.promised_epoch.value;
    line["remaining_ns"] = m.remaining.ns;
    line["parked"] = m.parked;
}

void add(Json& line, const protocol::Resign& m) {
    line["epoch"] = m.epoch.value;
    line["successor"] = id_or_null(m.successor);
}

void add_walk(Json& line, const protocol::Walk& walk) {
    line["owner"] = walk.owner.value;
    line["round"] = walk.round;
    line["step"] = walk.step;
    line["visited"] = walk.visited.bits();
}

void add(Json& line, const protocol::Token& m) {
    add_walk(line, m.walk);
    line["max_seen"] = m.max_seen.value;
}

void add(Json& line, const protocol::TokenAck& m) {
    line["owner"] = m.owner.value;
    line["round"] = m.round;
    line["step"] = m.step;
}

void add(Json& line, const protocol::CoordinatorToken& m) {
    add(line, m.request);
    add_walk(line, m.walk);
    Json grants = Json::array();
    for (const protocol::TokenGrant& grant : m.grants) grants.push_back(grant.voter.value);
    Json nacks = Json::array();
    for (const protocol::TokenNack& nack : m.nacks) nacks.push_back(nack.voter.value);
    line["grants"] = std::move(grants);
    line["nacks"] = std::move(nacks);
}

}  // namespace

std::string trace_line(const TraceEntry& entry, const protocol::Message& message) {
    Json line;
    line["ts_ns"] = entry.at.boottime_ns;
    line["raw_ns"] = entry.at.raw_ns;
    line["node"] = entry.node.value;
    line["incarnation"] = hex(entry.incarnation);
    line["dir"] = entry.direction == TraceDirection::send ? "send" : "recv";
    line["peer"] = id_or_null(entry.peer);
    line["peer_incarnation"] =
        entry.peer_incarnation.value == 0 ? Json(nullptr) : Json(hex(entry.peer_incarnation));
    line["session"] = entry.session.value;
    line["index"] = entry.index;
    line["kind"] = protocol::name(message);
    std::visit([&](const auto& m) { add(line, m); }, message);
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace bullring
