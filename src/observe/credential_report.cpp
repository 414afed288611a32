#include "src/observe/credential_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "src/base/text/text.hpp"

namespace bullring {
namespace {

using protocol::NodeId;
using Ids = std::set<NodeId>;

std::string nodes_text(const Ids& ids) {
    std::string text;
    for (const NodeId id : ids) text += (text.empty() ? "" : ", ") + std::to_string(id.value);
    return (ids.size() == 1 ? "node " : "nodes ") + text;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

/// Two CAs of one name differ by their keys.
std::string ca_text(const ShownCa& ca) {
    constexpr std::size_t digits = 8;
    return one_line(ca.name) + (ca.key.empty() ? "" : " (key " + ca.key.substr(0, digits) + ")");
}

/// The part that all members have alike, unless it is being replaced: certificates differ.
std::string common_text(const ShownCredential& shown) {
    if (!shown.key.empty()) return one_line(to_text(shown));
    return shown.certificate.empty() ? "" : "a certificate of " + ca_text(shown.issuer);
}

using Groups = std::map<std::string, Ids>;

/// "nodes 1, 3 use key 0b22c1d3; node 2 uses key 3f6a12aa"; nothing where all do the same.
void say_groups(const Groups& groups, const char* one_does, const char* several_do,
                std::vector<std::string>& lines) {
    if (groups.size() < 2) return;
    std::vector<std::pair<std::string, Ids>> by_size(groups.begin(), groups.end());
    std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
        return a.second.size() > b.second.size();
    });
    std::string line;
    for (const auto& [what, ids] : by_size)
        line += fmt::format("{}{} {} {}", line.empty() ? "" : "; ", nodes_text(ids),
                            ids.size() == 1 ? one_does : several_do, what);
    lines.push_back(std::move(line));
}

class Comparison {
public:
    explicit Comparison(const std::vector<MemberAnswer>& members) {
        for (const MemberAnswer& member : members)
            if (member.answer && member.answer->credential != OwnCredential{})
                answers_[member.id] = &*member.answer;
    }

    std::vector<std::string> lines() {
        compare_shown();
        compare_accepted();
        compare_revocations();
        compare_sessions();
        return std::move(lines_);
    }

private:
    /// A member that does not answer here is known by what it has shown others.
    void compare_shown() {
        Groups groups;
        Ids seen;
        for (const auto& [id, answer] : answers_)
            groups[common_text(answer->credential.shown)].insert(id);
        for (const auto& [id, answer] : answers_)
            for (const auto& [peer, credential] : answer->sessions.peers)
                if (const std::string text = common_text(credential.shown);
                    !text.empty() && !answers_.contains(peer) && seen.insert(peer).second)
                    groups[text].insert(peer);
        say_groups(groups, "uses", "use", lines_);
    }

    void compare_accepted() {
        Groups accepted_by;
        for (const auto& [id, answer] : answers_) {
            const OwnCredential& own = answer->credential;
            for (const std::string& key : own.accepts)
                accepted_by["key " + one_line(key)].insert(id);
            for (const std::string& key : own.observer_keys)
                accepted_by["the observers' key " + one_line(key)].insert(id);
            for (const ShownCa& ca : own.trusts) accepted_by["the CA " + ca_text(ca)].insert(id);
        }
        for (const auto& [what, by] : accepted_by) {
            Ids others;
            for (const auto& [id, answer] : answers_)
                if (!by.contains(id)) others.insert(id);
            if (!others.empty())
                lines_.push_back(fmt::format("{} is not accepted by {}", what, nodes_text(others)));
        }
    }

    void compare_revocations() {
        Groups groups;
        for (const auto& [id, answer] : answers_) {
            std::string text;
            for (const std::string& list : answer->credential.revocations)
                text += (text.empty() ? "" : " and ") + one_line(list);
            groups[text.empty() ? "nothing" : "what is in " + text].insert(id);
        }
        say_groups(groups, "has revoked", "have revoked", lines_);
    }

    /// A node replaces the connections that it has dialled when its credential changes.
    void compare_sessions() {
        std::map<std::pair<NodeId, std::string>, Ids> old;  // who has dialled, by what, and whom
        std::set<std::pair<NodeId, NodeId>> plain;
        for (const auto& [id, answer] : answers_)
            for (const auto& [peer, credential] : answer->sessions.peers) {
                if (!credential.secured) plain.insert(std::minmax(id, peer));
                const auto other = answers_.find(peer);
                if (other != answers_.end() && credential.shown != ShownCredential{} &&
                    credential.shown != other->second->credential.shown)
                    old[{peer, to_text(credential.shown)}].insert(id);
                ShownCredential dialled_with;
                dialled_with.key = credential.dialled_with;
                if (!dialled_with.key.empty() && dialled_with != answer->credential.shown)
                    old[{id, to_text(dialled_with)}].insert(peer);
            }
        for (const auto& [who, with] : old)
            lines_.push_back(fmt::format("node {} is still connected with {} by {}",
                                         who.first.value, nodes_text(with), one_line(who.second)));
        for (const auto& [one, other] : plain)
            lines_.push_back(fmt::format("nodes {} and {} are connected without security",
                                         one.value, other.value));
    }

    std::map<NodeId, const NodeAnswer*> answers_;
    std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> credential_differences(const std::vector<MemberAnswer>& members) {
    return Comparison(members).lines();
}

std::vector<std::string> needs_of_key(const NodeAnswer& node, const std::string& key_id) {
    std::vector<std::string> needs;
    const OwnCredential& own = node.credential;
    for (const CallerCredential& caller : node.sessions.callers)
        if (caller.shown.key == key_id)
            needs.push_back(fmt::format("{} at {} has come with it", one_line(caller.who),
                                        one_line(caller.from)));
    if (!has(own.accepts, key_id)) return needs;
    if (own.shown.key == key_id)
        needs.push_back(fmt::format("node {} dials with it", node.id.value));
    for (const NodeId id : protocol::ids_of(node.list.entries())) {
        if (id == node.id) continue;
        const auto peer = node.sessions.peers.find(id);
        const bool is_known = peer != node.sessions.peers.end();
        if (is_known && peer->second.shown.key == key_id)
            needs.push_back(fmt::format("node {} dials with it", id.value));
        else if (is_known && peer->second.dialled_with == key_id && own.shown.key != key_id)
            needs.push_back(
                fmt::format("node {} lets node {} in with it alone", id.value, node.id.value));
        else if (!is_known || peer->second.shown.key.empty())
            needs.push_back(fmt::format(
                "node {} is not connected, so nobody knows which key it dials with", id.value));
    }
    return needs;
}

}  // namespace bullring
