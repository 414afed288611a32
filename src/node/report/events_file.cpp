#include "src/node/report/events_file.hpp"

#include <type_traits>
#include <variant>

#include "bullring/version.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"
#include "src/node/leaders/leader_log.hpp"
#include "src/node/report/asked_action.hpp"
#include "src/node/report/members_text.hpp"

namespace bullring {

using protocol::NodeId;

namespace {

Json head(EventTime at, NodeId self, const char* event) {
    return Json{{"ts_ns", at.ts_ns},
                {"time", rfc3339(at.wall_clock_ns)},
                {"node", self.value},
                {"event", event}};
}

Json ids(const protocol::Membership& members, protocol::MemberSet set) {
    Json list = Json::array();
    for (const protocol::MemberEntry& member : members.entries())
        if (set.contains(member.slot)) list.push_back(member.id.value);
    return list;
}

std::string line(const Json& json) { return json_text(json) + "\n"; }

}  // namespace

EventTime event_time_now() { return {read_clock().boottime_ns, wall_clock_ns()}; }

std::string lost_events_line(EventTime at, NodeId self, std::uint64_t count) {
    Json json = head(at, self, "lost");
    json["count"] = count;
    return line(json);
}

std::string EventLines::started(EventTime at, int pid, const std::string& boot,
                                protocol::ClusterId id) const {
    Json json = head(at, config_.self, "started");
    json["algorithm"] = name(config_.algorithm);
    json["quorum"] = name(config_.quorum);
    json["peers"] = ids_json(config_.members.ids());
    json["version"] = version;
    json["pid"] = pid;
    json["boot"] = boot;
    json["cluster"] = config_.cluster;
    json["cluster_id"] = id ? Json(to_text(id)) : Json();
    return line(json);
}

std::string EventLines::cluster(EventTime at, protocol::ClusterId id) const {
    Json json = head(at, config_.self, "cluster");
    json["cluster_id"] = to_text(id);
    return line(json);
}

std::string EventLines::stopped(EventTime at, const std::string& reason) const {
    Json json = head(at, config_.self, "stopped");
    json["reason"] = reason;
    return line(json);
}

std::string EventLines::asked(EventTime at, NodeId self, const AskedAction& action,
                              std::uint64_t left_out) {
    Json json = head(at, self, "asked");
    json["what"] = action.what;
    json["by"] = action.caller.by;
    json["credential"] = action.caller.credential;
    json["from"] = action.caller.from;
    json["answer"] = name(action.answer);
    json["why"] = action.why;
    json["left_out"] = left_out;
    return line(json);
}

std::string EventLines::leader(EventTime at, const LeaderTurn& turn) const {
    const protocol::LeaderChanged& what = turn.what;
    Json json = head(at, config_.self, "leader");
    json["leader"] = id_or_null(what.leader);
    json["epoch"] = what.epoch.value;
    json["advertised"] = what.advertised;
    json["before"] = turn.before ? Json(name(*turn.before)) : Json(nullptr);
    json["gap_ms"] = what.unled_since
                         ? Json(fractional_ms({at.ts_ns - what.unled_since->boottime_ns}))
                         : Json(nullptr);
    return line(json);
}

std::string EventLines::of(EventTime at, const protocol::Action& action) {
    return std::visit(
        [&](const auto& what) -> std::string {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::PeerUp>) {
                Json json = head(at, config_.self, "peer_up");
                json["peer"] = what.peer.value;
                return line(json);
            } else if constexpr (std::is_same_v<What, protocol::PeerDown>) {
                Json json = head(at, config_.self, "peer_down");
                json["peer"] = what.peer.value;
                json["reason"] = protocol::name(what.reason);
                return line(json);
            } else if constexpr (std::is_same_v<What, protocol::ElectionStarted>) {
                Json json = head(at, config_.self, "election_started");
                json["epoch"] = what.epoch.value;
                json["reason"] = what.reason;
                return line(json);
            } else if constexpr (std::is_same_v<What, protocol::Elected>) {
                Json json = head(at, config_.self, "elected");
                json["epoch"] = what.epoch.value;
                json["grants"] = ids(members_, what.grants);
                return line(json);
            } else if constexpr (std::is_same_v<What, protocol::Deposed>) {
                Json json = head(at, config_.self, "deposed");
                json["epoch"] = what.epoch.value;
                json["reason"] = protocol::name(what.reason);
                json["held_until_ns"] = what.held_until.boottime_ns;
                return line(json);
            } else if constexpr (std::is_same_v<What, protocol::MembersChanged>) {
                if (!what.members.changed()) return "";  // those that it was started with
                Json json = head(at, config_.self, "members");
                json["tag"] = to_text(what.members.tag().value_or(protocol::Tag{}));
                json["members"] = members_json(what.members);
                return line(json);
            } else if constexpr (std::is_same_v<What, protocol::DealWith>) {
                members_ = what.members;
                return "";
            } else {
                return "";
            }
        },
        action);
}

}  // namespace bullring
