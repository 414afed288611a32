#include "src/observe/node_answer.hpp"

#include <utility>

#include "src/base/text/json.hpp"
#include "src/node/observers/credential_json.hpp"
#include "src/node/observers/task_json.hpp"

namespace bullring {
namespace {

protocol::Tag read_tag(const std::string& text) {
    const std::size_t dot = text.find('.');
    if (dot == std::string::npos) return {};
    return {{whole_number(Json::parse(text.substr(0, dot)))},
            static_cast<std::uint32_t>(whole_number(Json::parse(text.substr(dot + 1))))};
}

/// Empty: it has no list, or does not say.
std::vector<protocol::NodeId> read_founders(const Json& node) {
    std::vector<protocol::NodeId> founders;
    const auto found = node.find("founders");
    if (found == node.end() || found->is_null()) return founders;
    for (const Json& id : *found) founders.push_back({whole_number(id)});
    return founders;
}

/// Empty where it is none.
protocol::Membership read_list(const Json& node) {
    const auto found = node.find("members");
    if (found == node.end()) return {};
    std::vector<protocol::MemberEntry> entries;
    for (const Json& one : *found)
        entries.push_back({{whole_number(one.at("id"))},
                           static_cast<protocol::Index>(entries.size()),
                           one.at("vote").get<bool>(),
                           one.at("address").get<std::string>()});
    std::vector<protocol::NodeId> founders = read_founders(node);
    const protocol::Tag tag = read_tag(node.value("members_tag", ""));
    if (founders.empty()) founders = protocol::ids_of(entries);
    if (!protocol::Membership::is_possible(tag, entries, founders)) return {};
    return {tag, std::move(entries), std::move(founders)};
}

NodeAnswer read_answer(const Json& json) {
    const Json& node = json.at("node");
    NodeAnswer answer;
    answer.cluster = json.at("cluster").get<std::string>();
    answer.algorithm = json.at("algorithm").get<std::string>();
    answer.quorum = json.at("quorum").get<std::string>();
    answer.votes = json.value("votes", true);
    answer.id = {whole_number(node.at("id"))};
    answer.advertised = node.at("advertised").get<std::string>();
    answer.role = node.at("role").get<std::string>();
    answer.leader = id_or_nobody(node.at("leader"));
    answer.epoch = {whole_number(node.at("epoch"))};
    answer.lease_left_ms = static_cast<std::int64_t>(whole_number(node.at("lease_left_ms")));
    answer.promised_to = id_or_nobody(node.at("promised_to"));
    for (const Json& id : node.at("peers_up")) answer.peers_up.push_back({whole_number(id)});
    answer.why = node.at("why").get<std::string>();
    answer.uptime_ms = static_cast<std::int64_t>(whole_number(node.at("uptime_ms")));
    answer.version = node.at("version").get<std::string>();
    answer.commit = node.value("commit", "");
    if (const auto found = node.find("wire"); found != node.end())
        answer.wire = whole_number(*found);
    answer.list = read_list(node);
    answer.founders = read_founders(node);
    if (const auto found = node.find("cluster_id"); found != node.end() && !found->is_null())
        answer.cluster_id = protocol::cluster_id_in(found->get<std::string>());
    if (const auto found = node.find("wire_with"); found != node.end())
        for (const auto& [id, spoken] : found->items())
            answer.wire_with[{whole_number(Json::parse(id))}] = whole_number(spoken);
    answer.security = node.value("security", "none");  // not sent by 0.1.0
    answer.security_migrates = node.value("security_migrate", false);
    answer.certificate_not_after = node.value("certificate_not_after", "");
    answer.credential = own_credential_in(node);
    answer.sessions = session_credentials_in(node);
    if (const auto found = node.find("events_lost"); found != node.end())
        answer.events_lost = whole_number(*found);
    answer.asked_from = json.value("asked_from", "");
    for (const Json& id : json.value("members", Json::array()))
        answer.members.push_back({whole_number(id)});
    if (const auto found = node.find("priority"); found != node.end())
        answer.priority = priority_of(*found);
    if (const auto found = node.find("eligible"); found != node.end())
        answer.eligible = found->get<bool>();
    if (const auto found = node.find("healthy"); found != node.end())
        answer.healthy = found->get<bool>();
    if (const auto found = node.find("wrong"); found != node.end() && !found->is_null())
        answer.wrong = found->get<std::string>();
    answer.mode = node.value("mode", "");
    answer.task = task_in(node);
    return answer;
}

}  // namespace

bool NodeAnswer::follows_live_leader() const {
    return leader && (lease_left_ms > 0 || quorum == "none");
}

tl::expected<NodeAnswer, std::string> parse_node_answer(const std::string& json) {
    try {
        return read_answer(Json::parse(json));
    } catch (const Json::exception& error) {
        return tl::unexpected(std::string("its status can't be read: ") + error.what());
    }
}

}  // namespace bullring
