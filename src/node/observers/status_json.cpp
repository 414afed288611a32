#include "src/node/observers/status_json.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "bullring/version.hpp"
#include "src/base/commit/commit.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/node/observers/credential_json.hpp"
#include "src/node/observers/task_json.hpp"
#include "src/node/report/members_text.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

// To users a node that is on its way down is a follower (PROTOCOL §2).
const char* shown_role(protocol::Role role) {
    switch (role) {
        case protocol::Role::candidate: return "candidate";
        case protocol::Role::leader: return "leader";
        case protocol::Role::follower:
        case protocol::Role::stepping_down: break;
    }
    return "follower";
}

namespace {

Json ids_of(const protocol::MemberSet& set, const protocol::Membership& members) {
    Json ids = Json::array();
    for (const protocol::MemberEntry& member : members.entries())
        if (set.contains(member.slot)) ids.push_back(member.id.value);
    return ids;
}

Json versions_of(const protocol::View& view) {
    Json versions = Json::object();
    for (std::size_t i = 0; i < view.versions.size(); ++i) {
        const protocol::NodeId id = view.members.id(static_cast<protocol::Index>(i));
        if (view.versions[i] != 0) versions[std::to_string(id.value)] = view.versions[i];
    }
    return versions;
}

/// Null: it has no list yet.
Json founders_json(const protocol::View& view) {
    return view.has_list ? ids_json(view.list.founders()) : Json();
}

}  // namespace

StatusInput status_facts(const NodeOptions& options) {
    StatusInput input;
    input.view.self = options.config.self;
    input.view.fenced = options.config.quorum != protocol::QuorumMode::none;
    input.view.members = input.view.list = options.config.members;
    input.cluster = options.config.cluster;
    input.algorithm = options.config.algorithm;
    input.quorum = options.config.quorum;
    input.address = to_text(options.peers.at(options.config.self));
    input.advertised = options.config.advertised;
    input.priority = options.config.priority;
    input.mode = options.mode;
    input.version = version;
    input.commit = built_from();
    input.wire = options.config.wire_highest;
    input.security = name(options.security.mode);
    input.security_migrates = options.security.migrate;
    return input;
}

std::string node_status_json(const StatusInput& input) {
    const protocol::View& view = input.view;
    Json node;
    node["id"] = view.self.value;
    node["address"] = input.address;
    node["reachable"] = true;
    node["advertised"] = input.advertised;
    node["role"] = shown_role(view.role);
    node["leader"] = id_or_null(view.leader);
    node["epoch"] = view.epoch.value;
    node["lease_left_ms"] = lease_left_ms(view.lease_left);
    node["promised_to"] = id_or_null(view.promised_to);
    node["peers_up"] = ids_of(view.connected, view.members);
    node["why"] = view.why;
    node["uptime_ms"] = input.uptime_ms;
    node["version"] = input.version;
    node["commit"] = input.commit;
    node["wire"] = input.wire;
    node["wire_lowest"] = lowest_with(view.list);
    node["wire_with"] = versions_of(view);
    node["members_tag"] = to_text(view.list.tag().value_or(protocol::Tag{}));
    node["founders"] = founders_json(view);
    node["cluster_id"] = view.cluster_id ? Json(to_text(view.cluster_id)) : Json();
    node["members"] = members_json(view.list);
    node["security"] = input.security;
    node["priority"] = priority_json(input.priority);
    node["eligible"] = view.eligible;
    node["healthy"] = view.healthy;
    node["wrong"] = text_or_null(view.wrong);
    node["mode"] = input.mode;
    if (input.task) add_task(node, *input.task, input.mode != "node");
    if (input.security_migrates) node["security_migrate"] = true;
    if (input.events_lost != 0) node["events_lost"] = input.events_lost;
    if (input.certificate_not_after != 0)
        node["certificate_not_after"] =
            Rfc3339(std::chrono::seconds(input.certificate_not_after)).text();
    add_credentials(node, input.credential, input.sessions);

    Json answer;
    answer["cluster"] = input.cluster;
    answer["algorithm"] = name(input.algorithm);
    answer["quorum"] = name(input.quorum);
    const bool removed = view.list.has_removed(view.self);
    answer["votes"] = !view.recovering && !removed;
    answer["members"] = ids_json(view.list.ids());
    if (!input.asked_from.empty()) answer["asked_from"] = input.asked_from;
    answer["node"] = std::move(node);
    return json_text(answer);
}

}  // namespace bullring
