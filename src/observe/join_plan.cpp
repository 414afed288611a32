#include "src/observe/join_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "src/node/report/refusal_text.hpp"
#include "src/node/storage/removed_mark.hpp"
#include "src/observe/which_cluster.hpp"

namespace bullring {
namespace {

using protocol::Difference;
using protocol::MemberChange;
using protocol::MemberEntry;
using protocol::Membership;

using Unplanned = tl::unexpected<Obstacle>;

Obstacle nobody_tells(const std::vector<MemberAnswer>& answers) {
    constexpr std::size_t most = 5;  // a name may stand for many
    std::string text;
    for (std::size_t i = 0; i < std::min(answers.size(), most); ++i)
        text += (i == 0 ? "" : "; ") + answers[i].address + ": " +
                (answers[i].answer ? "no list of members yet" : answers[i].problem);
    if (answers.size() > most) text += fmt::format("; and {} more", answers.size() - most);
    const bool is_refused = std::any_of(answers.begin(), answers.end(),
                                        [](const MemberAnswer& one) { return one.refused; });
    return {text, is_refused
                      ? "compare --cluster, --security and the addresses with those of the others"
                      : ""};
}

/// How the others are to dial it.
tl::expected<std::string, Obstacle> address_of(const JoiningNode& node, const Membership& told,
                                               const std::vector<MemberAnswer>& answers) {
    const NodeOptions& options = node.options;
    if (options.join_as.port != 0) return to_text(options.join_as);
    const Endpoint& listen = options.listen;
    const bool everywhere = is_unspecified(listen.host);
    if (!everywhere && !is_loopback(listen.host)) return to_text(listen);
    std::vector<std::string> seen;
    for (const MemberAnswer& one : answers)
        if (one.answer && one.incarnation != node.run)
            // It is told without a port.
            if (const auto from = parse_endpoint(one.answer->asked_from + ":1"))
                // Where it listens by IPv4 alone nobody dials it by IPv6.
                if (listen.host != "0.0.0.0" || from->host.find(':') == std::string::npos)
                    seen.push_back(from->host);
    std::stable_partition(seen.begin(), seen.end(),
                          [](const std::string& host) { return !is_loopback(host); });
    const std::vector<MemberEntry>& members = told.entries();
    const bool all_here =
        std::all_of(members.begin(), members.end(), [&](const MemberEntry& member) {
            const auto endpoint = parse_endpoint(member.address);
            return member.id == options.config.self || !endpoint || is_loopback(endpoint->host);
        });
    const bool by_loopback = seen.empty() || is_loopback(seen.front());
    if (by_loopback && !all_here)
        return Unplanned(
            {"the others do not reach it at " + to_text(listen) + ", as far as it knows",
             "give --join-as HOST:PORT"});
    if (!everywhere) return to_text(listen);
    if (seen.empty())
        return Unplanned(
            {"nobody says at which address it sees this node", "give --join-as HOST:PORT"});
    // The members may see it at several addresses: one that the list has already stays.
    const MemberEntry* const entry = told.find(options.config.self);
    const auto listed = parse_endpoint(entry != nullptr ? entry->address : "");
    const bool is_it = listed && is_loopback(listed->host) == by_loopback &&
                       std::any_of(answers.begin(), answers.end(), [&](const auto& one) {
                           return one.incarnation == node.run && one.address == entry->address;
                       });
    return is_it ? entry->address : to_text({seen.front(), listen.port});
}

bool is_foreign(const KnownCluster& known, const NodeAnswer& answer) {
    return !known.list.empty() && is_of_other_cluster(answer, {known.list.founders(), known.id});
}

/// Those of the node's cluster, if its directory is of one, and else of that of most.
std::vector<MemberAnswer> of_its_cluster(const KnownCluster& known,
                                         std::vector<MemberAnswer> answers) {
    std::erase_if(answers, [&](const MemberAnswer& one) {
        return one.answer && is_foreign(known, *one.answer);
    });
    return of_one_cluster(std::move(answers));
}

/// Before it is in the list, where it would be refused by all.
std::optional<Obstacle> in_the_way(const JoiningNode& node, const Membership& told,
                                   const std::vector<MemberAnswer>& answers) {
    const NodeOptions& options = node.options;
    const protocol::NodeId self = options.config.self;
    for (const MemberAnswer& one : answers)
        if (one.id == self && one.answer && one.incarnation != node.run)
            return Obstacle{
                fmt::format("another process is node {}, at {}", self.value, one.address),
                "end it, or give this one an --id of its own"};
    for (const MemberAnswer& one : answers)
        if (one.answer && one.id != self && !one.answer->founders.empty())
            if (const auto differ = settings_that_differ(options, node.known, *one.answer);
                !differ.empty())
                return differ.front();
    if (told.find(self) == nullptr && told.size() == protocol::members_max)
        return Obstacle{fmt::format("the cluster has {} members, which is the most", told.size()),
                        "remove one, or let further instances watch"};
    return std::nullopt;
}

/// One that may have been forgotten comes back by itself.
bool was_removed(const JoiningNode& node, const Membership& told) {
    if (node.known.removed) return true;
    const MemberEntry* const entry = node.known.list.find(node.options.config.self);
    return entry != nullptr && told.tag() > node.known.list.tag() &&
           is_forgotten_never(*entry, node.options);
}

}  // namespace

KnownCluster known_by(const std::optional<protocol::Durable>& file, const NodeOptions& options) {
    if (!file) return {};
    const bool is_member = file->members.find(options.config.self) != nullptr;
    const bool removed = !is_member && RemovedMark(options.data_dir).is_set();
    return {file->members, file->identity.known(), removed};
}

bool is_forgotten_never(const MemberEntry& member, const NodeOptions& options) {
    return member.votes || options.config.forget_after.ns == 0;
}

std::string added_again_by(const NodeOptions& options, const std::string& address) {
    return fmt::format("bullring member add {}={}", options.config.self.value,
                       address.empty() ? "HOST:PORT" : address);
}

std::string to_text(const Obstacle& obstacle) {
    return obstacle.what + (obstacle.remedy.empty() ? "" : "; " + obstacle.remedy);
}

std::vector<Endpoint> asked_to_join(const NodeOptions& options,
                                    const std::vector<Membership>& lists) {
    std::vector<Endpoint> all = options.join;
    for (const Membership& list : lists)
        for (const MemberEntry& member : list.entries()) {
            const auto endpoint = parse_endpoint(member.address);
            if (endpoint && member.id != options.config.self &&
                std::find(all.begin(), all.end(), *endpoint) == all.end())
                all.push_back(*endpoint);
        }
    return all;
}

tl::expected<JoinPlan, Obstacle> plan_joining(const JoiningNode& node,
                                              const std::vector<MemberAnswer>& answers) {
    const NodeOptions& options = node.options;
    const protocol::NodeId self = options.config.self;
    JoinPlan plan;
    plan.answers = of_its_cluster(node.known, answers);
    plan.list = newest_list(plan.answers);
    plan.cluster_id = node.known.id ? node.known.id : meant_cluster_id(plan.answers);
    if (plan.list.empty()) {
        for (const MemberAnswer& one : answers)
            if (one.answer && is_foreign(node.known, *one.answer))
                return Unplanned(settings_that_differ(options, node.known, *one.answer).front());
        return Unplanned(nobody_tells(plan.answers));
    }
    if (auto obstacle = in_the_way(node, plan.list, plan.answers))
        return Unplanned(std::move(*obstacle));
    auto address = address_of(node, plan.list, plan.answers);
    if (!address) return Unplanned(std::move(address.error()));
    plan.address = std::move(*address);
    const MemberEntry* const entry = plan.list.find(self);
    if (entry == nullptr && was_removed(node, plan.list)) {
        plan.was_removed = true;
        return plan;
    }
    // A member exchanges addresses with who has its own in the list (PROTOCOL C13.2).
    for (const MemberEntry& other : plan.list.entries())
        if (entry == nullptr && other.address == plan.address)
            return Unplanned(Obstacle{
                fmt::format("node {} has the address {}", other.id.value, plan.address),
                "give this node another --listen or --join-as, or have the other removed"});
    if (entry == nullptr)
        plan.changes.push_back({MemberChange::What::add, self, plan.address});
    else if (entry->address != plan.address)
        plan.changes.push_back({MemberChange::What::address, self, plan.address});
    if (options.voter && (entry == nullptr || !entry->votes))
        plan.changes.push_back({MemberChange::What::promote, self, {}});
    return plan;
}

std::vector<Obstacle> settings_that_differ(const NodeOptions& options, const KnownCluster& known,
                                           const NodeAnswer& member) {
    const protocol::Config& config = options.config;
    std::vector<Obstacle> all;
    const auto differs = [&](Difference what, std::string there, std::string here) {
        if (there == here) return;
        const protocol::HandshakeRefused refusal{
            member.id, false, protocol::refusal(what, std::move(there), std::move(here)), {}};
        all.push_back({why_refused(refusal, config.self),
                       remedy(refusal, config.self, way_to_start(options, !known.list.empty()))});
    };
    const protocol::Membership& list = known.list;
    if (is_foreign(known, member)) {
        if (list.founders() != member.founders)
            differs(Difference::founders, protocol::ids_text(member.founders),
                    protocol::ids_text(list.founders()));
        else
            differs(Difference::cluster_id, to_text(member.cluster_id), to_text(known.id));
    }
    // A node is added by a change of the list.
    const bool changes = !options.join.empty() || list.changed() || member.list.changed();
    const std::uint64_t lowest = changes ? protocol::version_with_tags : protocol::version_lowest;
    const auto versions = [lowest](std::uint64_t highest) {
        return fmt::format("{}-{}", std::min(lowest, highest), highest);
    };
    if (config.wire_highest < lowest || member.wire < lowest)
        differs(Difference::version, versions(member.wire), versions(config.wire_highest));
    differs(Difference::quorum, member.quorum, protocol::name(config.quorum));
    differs(Difference::algorithm, member.algorithm, protocol::name(config.algorithm));
    return all;
}

}  // namespace bullring
