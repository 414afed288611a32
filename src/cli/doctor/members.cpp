// The other members: whether they are reached, and belong to this one.
#include <algorithm>
#include <cerrno>
#include <system_error>

#include <asio/ip/address.hpp>
#include <bullring/version.hpp>
#include <fmt/format.h>

#include "src/base/os/tcp.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/cli/doctor/interfaces.hpp"
#include "src/node/known_members.hpp"
#include "src/observe/join_plan.hpp"

namespace bullring::doctor {

namespace {

void tell_unreached(const std::string& subject, const Endpoint& endpoint, int error,
                    Findings& findings) {
    if (error == ECONNREFUSED)
        findings.note(subject, "its machine answers, and no node listens there yet");
    else if (error == ETIMEDOUT)
        findings.warn(subject, "nothing came back",
                      fmt::format("its machine is down, or a firewall drops what it should let "
                                  "through: allow TCP port {} from all members, and reject the "
                                  "rest instead of dropping it",
                                  endpoint.port));
    else
        findings.warn(subject, "it can't be reached: " + std::generic_category().message(error),
                      "check the routes and the firewall between the two machines");
}

std::string ids_of(const std::vector<protocol::NodeId>& ids) {
    std::string text;
    for (const protocol::NodeId id : ids)
        text += (text.empty() ? "" : ", ") + std::to_string(id.value);
    return text;
}

/// It is there, and is none of this node's cluster.
void tell_unanswered(const std::string& subject, const MemberAnswer& member, Findings& findings) {
    if (member.problem.starts_with("it says that it is node"))
        findings.fail(subject, "somebody else is there: " + member.problem,
                      "check the list of members");
    else if (member.refused)
        findings.fail(subject, "somebody is there, and refuses: " + member.problem,
                      "compare --cluster, --security and the addresses with those of the others");
    else
        findings.warn(subject, "it takes connections and does not answer: " + member.problem,
                      "see its log; is it a node, and of this port?");
}

/// Lists that somebody has changed hold whatever --peers has. Of others the members are the same
/// everywhere.
void tell_lists(const std::string& subject, const NodeOptions& options,
                const protocol::Membership& list, const NodeAnswer& answer, Findings& findings) {
    if (!options.join.empty() || answer.members.empty()) return;
    const protocol::NodeId self = options.config.self;
    const std::vector<protocol::NodeId> ids = options.config.members.ids();
    const bool is_listed =
        std::find(answer.members.begin(), answer.members.end(), self) != answer.members.end();
    if (answer.list.changed() && !is_listed)
        findings.fail(subject,
                      fmt::format("this node is not one of its members {} (list {})",
                                  ids_of(answer.members), to_text(*answer.list.tag())),
                      fmt::format("have it added: bullring member add {}={}", self.value,
                                  to_text(options.peers.at(self))));
    else if (!answer.list.changed() && !list.changed() && answer.members != ids)
        findings.fail(subject,
                      fmt::format("its members are {}, and here they are {}",
                                  ids_of(answer.members), ids_of(ids)),
                      "all members need the same list; they refuse each other otherwise");
    for (const protocol::MemberEntry& entry : answer.list.entries())
        if (answer.list.changed() && entry.id == answer.id && !entry.address.empty() &&
            entry.address != to_text(options.peers.at(answer.id)))
            findings.warn(subject, "the list has it at " + entry.address,
                          fmt::format("correct --peers, or the list: bullring member address {}={}",
                                      answer.id.value, to_text(options.peers.at(answer.id))));
}

void tell_way(const std::string& subject, const NodeAnswer& answer, bool by_loopback,
              Findings& findings) {
    asio::error_code unreadable;
    const auto seen = asio::ip::make_address(tcp::host_of(answer.asked_from), unreadable);
    if (answer.asked_from.empty() || unreadable) return;
    if (is_on_this_machine(seen) && (by_loopback || !seen.is_loopback())) return;
    findings.warn(subject,
                  fmt::format("it sees this machine as {}, which is none of its addresses: a "
                              "proxy or NAT is between the two",
                              answer.asked_from),
                  "let members reach each other directly; else a dead leader is replaced only "
                  "when its lease is over");
}

void tell_reached(const NodeOptions& options, const KnownCluster& known, const MemberAnswer& member,
                  const Reach& reach, bool runs, Findings& findings) {
    const std::string subject = subject_of(member.id, options.peers.at(member.id));
    if (!member.answer) return tell_unanswered(subject, member, findings);
    const std::size_t before = findings.all().size();
    tell_differences(subject, options, known, *member.answer, runs, findings);
    tell_lists(subject, options, known.list, *member.answer, findings);
    tell_way(subject, *member.answer, reach.connected.address().is_loopback(), findings);
    if (findings.all().size() != before) return;
    const protocol::Duration heartbeat = options.config.timing.heartbeat;
    const std::string time = protocol::to_text(reach.round_trip);
    if (reach.round_trip.ns > heartbeat.ns / 2)
        findings.warn(subject,
                      fmt::format("its round trip is {}, more than half a heartbeat of {}", time,
                                  protocol::to_text(heartbeat)),
                      "take a --profile for longer ways, on all members");
    else
        findings.ok(subject,
                    fmt::format("it answers within {}, and says: {}", time, member.answer->why));
}

}  // namespace

void tell_differences(const std::string& subject, const NodeOptions& options,
                      const KnownCluster& known, const NodeAnswer& answer, bool runs,
                      Findings& findings) {
    for (const Obstacle& differs : settings_that_differ(options, known, answer))
        findings.fail(subject, differs.what, differs.remedy);
    const protocol::NodeId self = options.config.self;
    const auto& up = answer.peers_up;
    if (!runs && answer.id != self && std::find(up.begin(), up.end(), self) != up.end())
        findings.fail(
            subject, fmt::format("it is connected with a node {} that is not this one", self.value),
            "end the other process with this --id, or take another ID; the second "
            "one is refused");
    if (options.security.migrate && answer.security == name(SecurityMode::none))
        findings.note(subject,
                      "it has no security yet, which --security-migrate allows: let it have some "
                      "before that flag is taken away");
    if (answer.version != version)
        findings.warn(subject,
                      fmt::format("it is version {}, and this is {}", answer.version, version),
                      "the changelog says which versions work together");
}

void check_list(const protocol::Membership& list, NodeOptions& options, Findings& findings) {
    if (list.empty()) return;
    const std::string subject = "list " + to_text(*list.tag()) + " in the state file";
    if (options.config.wire_highest < lowest_with(list))
        findings.fail(subject,
                      fmt::format("it was changed, which --wire {} has no messages for",
                                  options.config.wire_highest),
                      fmt::format("take --wire away, or give {} or more", lowest_with(list)));
    if (!options.join.empty()) return;
    if (list.find(options.config.self) == nullptr)
        findings.fail(
            subject, fmt::format("this node was removed: the members are {}", ids_of(list.ids())),
            fmt::format("have it added: bullring member add {}={}", options.config.self.value,
                        to_text(options.peers.at(options.config.self))));
    if (const std::string differs = take_members(list, options); !differs.empty())
        findings.warn(subject, differs, "bring --peers up to date");
}

void check_members(const NodeOptions& options, const KnownCluster& known,
                   const Surroundings& around, bool runs, Findings& findings) {
    for (const auto& [id, reach] : around.reached) {
        if (id == options.config.self) continue;
        const Endpoint& endpoint = options.peers.at(id);
        const auto answer = around.answers.find(id);
        if (reach.error != 0)
            tell_unreached(subject_of(id, endpoint), endpoint, reach.error, findings);
        else if (answer != around.answers.end())
            tell_reached(options, known, answer->second, reach, runs, findings);
    }
}

}  // namespace bullring::doctor
