#include "src/observe/status_report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "protocol/values/time.hpp"
#include "protocol/values/timing.hpp"
#include "src/base/text/json.hpp"
#include "src/base/text/table.hpp"
#include "src/base/text/text.hpp"
#include "src/node/observers/credential_json.hpp"
#include "src/node/observers/task_json.hpp"
#include "src/observe/credential_report.hpp"
#include "src/observe/no_leader.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

/// Whether it has a vote; null: it is no member of the list.
Json vote_json(protocol::NodeId id, const protocol::Membership& list) {
    const protocol::MemberEntry* const member = list.find(id);
    return member == nullptr ? Json(nullptr) : Json(member->votes);
}

/// Null: it has no list yet, or does not say.
Json ids_or_null(const std::vector<protocol::NodeId>& ids) {
    return ids.empty() ? Json() : ids_json(ids);
}

Json node_json(const MemberAnswer& member, const protocol::Membership& list) {
    Json node;
    node["id"] = member.id.value;
    node["address"] = member.address;
    node["reachable"] = member.answer.has_value();
    if (member.listed) node["listed_address"] = member.listed->address;
    if (member.listed && !member.listed->problem.empty())
        node["listed_problem"] = member.listed->problem;
    if (!member.answer) {
        for (const char* key :
             {"advertised", "role", "leader", "epoch", "lease_left_ms", "promised_to"}) {
            node[key] = nullptr;
        }
        node["peers_up"] = Json::array();
        for (const char* key : {"why", "uptime_ms", "version", "commit", "wire", "wire_lowest",
                                "wire_with", "members_tag", "founders", "cluster_id", "security",
                                "priority", "eligible", "healthy", "wrong", "mode", "votes"})
            node[key] = nullptr;
        node["vote"] = vote_json(member.id, list);
        node["problem"] = member.problem;
        return node;
    }
    const NodeAnswer& answer = *member.answer;
    node["advertised"] = answer.advertised;
    node["role"] = answer.role;
    node["leader"] = id_or_null(answer.leader);
    node["epoch"] = answer.epoch.value;
    node["lease_left_ms"] = answer.lease_left_ms;
    node["promised_to"] = id_or_null(answer.promised_to);
    node["peers_up"] = ids_json(answer.peers_up);
    node["why"] = answer.why;
    node["uptime_ms"] = answer.uptime_ms;
    node["version"] = answer.version;
    node["commit"] = answer.commit;
    node["wire"] = answer.wire;
    node["wire_lowest"] = lowest_with(answer.list);
    node["wire_with"] = Json::object();
    for (const auto& [id, spoken] : answer.wire_with)
        node["wire_with"][std::to_string(id.value)] = spoken;
    node["members_tag"] = to_text(answer.list.tag().value_or(protocol::Tag{}));
    node["founders"] = ids_or_null(answer.founders);
    node["cluster_id"] = answer.cluster_id ? Json(to_text(answer.cluster_id)) : Json();
    node["security"] = answer.security;
    node["priority"] = answer.priority ? priority_json(*answer.priority) : Json(nullptr);
    node["eligible"] = answer.eligible ? Json(*answer.eligible) : Json(nullptr);
    node["healthy"] = answer.healthy ? Json(*answer.healthy) : Json(nullptr);
    node["wrong"] = text_or_null(answer.wrong);
    node["mode"] = text_or_null(answer.mode);
    if (answer.task) add_task(node, *answer.task, !answer.mode.empty() && answer.mode != "node");
    node["votes"] = answer.votes;
    node["vote"] = vote_json(member.id, list);
    if (answer.security_migrates) node["security_migrate"] = true;
    if (answer.events_lost != 0) node["events_lost"] = answer.events_lost;
    if (!answer.certificate_not_after.empty())
        node["certificate_not_after"] = answer.certificate_not_after;
    add_credentials(node, answer.credential, answer.sessions);
    return node;
}

/// "12s", "5m3s", "2h5m", "3d4h": the two largest units are enough for people.
std::string uptime_text(std::int64_t ms) {
    const std::int64_t seconds = ms / 1000;
    if (seconds < 60) return fmt::format("{}s", seconds);
    if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
    if (seconds < 86'400) return fmt::format("{}h{}m", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{}d{}h", seconds / 86'400, seconds / 3600 % 24);
}

/// With whom a lower version than its own is spoken: a cluster that is being upgraded.
std::string older_text(const NodeAnswer& answer) {
    std::string text;
    for (const auto& [id, spoken] : answer.wire_with)
        if (spoken < answer.wire)
            text += fmt::format("{} {} with {}", text.empty() ? "; wire" : ",", spoken, id.value);
    return text;
}

/// The process that leads through it, and how many wait.
std::string attached_text(const NodeAnswer& answer) {
    if (!answer.task || answer.task->candidates == 0) return "";
    const std::optional<ShownHolder>& holder = answer.task->holder;
    std::string text;
    if (holder)
        text = fmt::format("; process {} ({}) leads for {}", holder->pid, holder->name,
                           uptime_text(holder->for_ms));
    const std::uint64_t waiting = answer.task->candidates - (holder ? 1 : 0);
    if (waiting == 1) text += "; a process waits to lead";
    if (waiting > 1) text += fmt::format("; {} processes wait to lead", waiting);
    return text;
}

constexpr std::size_t columns = 10;
using Row = std::array<std::string, columns>;

std::string elsewhere(const MemberAnswer& member) {
    if (!member.listed || member.listed->problem.empty()) return "";
    return "; not reached at " + member.listed->address +
           ", which the list has: " + member.listed->problem;
}

/// It has no vote, or is no member any more, which it says itself if it is there.
std::string standing(const MemberAnswer& member, const Origin& origin,
                     const protocol::Membership& list) {
    if (is_of_other_cluster(member, origin))
        return "; " + of_another_cluster(*member.answer, origin);
    if (!list.changed()) return "";
    const protocol::MemberEntry* const listed = list.find(member.id);
    if (listed == nullptr)
        return member.answer ? "" : "; not in the list of members " + to_text(*list.tag());
    return listed->votes ? "" : "; has no vote";
}

Row row_of(const MemberAnswer& member, const Origin& origin, const protocol::Membership& list) {
    const std::string id = std::to_string(member.id.value);
    if (!member.answer)
        return {
            id,   member.address,
            "no", "-",
            "-",  "-",
            "-",  "-",
            "-",  one_line(member.problem + elsewhere(member)) + standing(member, origin, list)};
    const NodeAnswer& answer = *member.answer;
    const auto number = [](std::uint64_t value) {
        return value == 0 ? std::string("-") : std::to_string(value);
    };
    return {id,
            member.address,
            "yes",
            one_line(answer.role),
            number(answer.leader.value),
            number(answer.epoch.value),
            answer.lease_left_ms > 0
                ? protocol::to_text(protocol::milliseconds(answer.lease_left_ms))
                : "-",
            uptime_text(answer.uptime_ms),
            one_line(answer.security +
                     (answer.certificate_not_after.empty()
                          ? ""
                          : " until " + answer.certificate_not_after.substr(0, 10)) +
                     (answer.security_migrates ? ", migrating" : "")),
            one_line(answer.why + attached_text(answer) + standing(member, origin, list) +
                     elsewhere(member) + older_text(answer))};
}

}  // namespace

std::optional<Agreement> agreement(const std::vector<MemberAnswer>& members) {
    const Origin origin = meant_origin(members);
    const Electorate electorate = electorate_of(members);
    for (const MemberAnswer& one : members) {
        if (!one.answer || !one.answer->follows_live_leader() || is_of_other_cluster(one, origin))
            continue;
        const Agreement named{one.answer->leader, one.answer->epoch};
        const auto agree = std::count_if(electorate.answered.begin(), electorate.answered.end(),
                                         [&](const NodeAnswer* other) {
                                             return other->follows_live_leader() &&
                                                    Agreement{other->leader, other->epoch} == named;
                                         });
        if (electorate.is_majority(static_cast<std::size_t>(agree))) return named;
    }
    return std::nullopt;
}

std::optional<Agreement> claimed_leader(const std::vector<MemberAnswer>& members) {
    const Origin meant = meant_origin(members);
    std::optional<Agreement> found;
    if (is_ambiguous(members)) return found;
    for (const MemberAnswer& member : members) {
        if (!member.answer || is_of_other_cluster(member, meant) ||
            member.answer->role != "leader" || !member.answer->follows_live_leader())
            continue;
        if (!found || found->epoch < member.answer->epoch)
            found = Agreement{member.id, member.answer->epoch};
    }
    return found;
}

bool all_reachable(const std::vector<MemberAnswer>& members) {
    return std::all_of(members.begin(), members.end(),
                       [](const auto& one) { return one.answer.has_value(); });
}

bool all_reachable_vote(const std::vector<MemberAnswer>& members) {
    const protocol::Membership list = newest_list(members);
    return std::all_of(members.begin(), members.end(), [&](const MemberAnswer& one) {
        return list.has_removed(one.id) || !one.answer || one.answer->votes;
    });
}

bool are_of_different_versions(const std::vector<MemberAnswer>& members) {
    std::set<std::uint64_t> versions;
    for (const MemberAnswer& member : members)
        if (member.answer) versions.insert(member.answer->wire);
    return versions.size() > 1;
}

std::string status_table(const std::vector<MemberAnswer>& members) {
    std::vector<Row> rows{{"ID", "ADDRESS", "REACHABLE", "ROLE", "LEADER", "EPOCH", "LEASE LEFT",
                           "UPTIME", "SECURITY", "WHY"}};
    const Origin origin = meant_origin(members);
    const protocol::Membership list = newest_list_of(origin, members);
    for (const MemberAnswer& member : members) rows.push_back(row_of(member, origin, list));
    std::string text = table(rows);
    if (const auto lowest = lowest_with(list);
        lowest > protocol::version_lowest && are_of_different_versions(members))
        text += fmt::format(
            "with this list of members no node can speak a version of the wire format below {}\n",
            lowest);
    for (const std::string& line : credential_differences(of_one_cluster(members)))
        text += line + "\n";
    return text;
}

std::string why_no_agreement(const std::vector<MemberAnswer>& members) {
    std::map<std::string, std::string> ids_of_reason;
    std::size_t reachable = 0;
    for (const MemberAnswer& member : members) {
        if (member.answer) ++reachable;
        const std::string& why = member.answer ? member.answer->why : member.problem;
        std::string& ids = ids_of_reason[one_line(why)];
        ids += (ids.empty() ? "" : ", ") + std::to_string(member.id.value);
    }
    const NoLeader no_leader = why_no_leader(members);
    std::string text = fmt::format("{}: {}: {} of {} members reachable",
                                   no_leader.elsewhere ? "no leader is known here" : "no leader",
                                   no_leader.why, reachable, members.size());
    for (const auto& [why, ids] : ids_of_reason)
        if (!why.empty()) text += fmt::format("; {}: {}", ids, why);
    return text + "; " + no_leader.remedy;
}

std::string status_json(const std::string& cluster, const std::vector<MemberAnswer>& members) {
    const auto first = std::find_if(members.begin(), members.end(),
                                    [](const auto& member) { return member.answer.has_value(); });
    const bool answered = first != members.end();
    const std::optional<Agreement> agreed = agreement(members);

    Json json;
    json["cluster"] = cluster;
    json["algorithm"] = answered ? Json(first->answer->algorithm) : Json(nullptr);
    json["quorum"] = answered ? Json(first->answer->quorum) : Json(nullptr);
    json["leader"] = agreed ? Json(agreed->leader.value) : Json(nullptr);
    json["epoch"] = agreed ? Json(agreed->epoch.value) : Json(nullptr);
    if (!agreed) {
        NoLeader no_leader = why_no_leader(members);
        json["why"] = std::move(no_leader.why);
        json["remedy"] = std::move(no_leader.remedy);
    }
    json["nodes"] = Json::array();
    const protocol::Membership list = newest_list(members);
    for (const MemberAnswer& member : members) json["nodes"].push_back(node_json(member, list));
    return json_text(json);
}

}  // namespace bullring
