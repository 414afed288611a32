#include "protocol/report/why.hpp"

#include <algorithm>
#include <string>

#include "protocol/report/report.hpp"
#include "protocol/report/silence.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

namespace {

void fill_view(const Parts& node, View& view, Instant now) {
    if (node.voter.promise().live(now)) view.promised_to = node.voter.promise().key().id;
    view.cluster_id = node.cluster_id();
    view.recovering = node.recovering();
    view.votes = !silent(node, now) && !node.leaving() && !node.removed();
}

std::string why_leading(const Parts& node, Instant now) {
    if (!node.fenced()) return ", unfenced (quorum none)";
    return " with grants of " + node.ids_text(node.grants(now));
}

std::string why_bound(const Parts& node, Instant now) {
    if (!node.voter.promise().live_to_other(now, node.own_key())) return {};
    return " promised to " + std::to_string(node.voter.promise().key().id.value);
}

// The reason that keeps it from standing for longer than an election takes, so that an operator
// should know of it also while somebody else leads.
std::string why_hindered(const Parts& node, Instant now, const HostReasons& reasons) {
    if (!reasons.joining.empty()) return reasons.joining;
    if (!node.gate.healthy())
        return "unhealthy" + (reasons.unhealthy.empty() ? "" : ": " + reasons.unhealthy);
    if (node.config().priority.is_never()) return {};
    if (!node.gate.willing())
        return "does not stand: " +
               (reasons.unwilling.empty() ? "it has nobody to do the work" : reasons.unwilling);
    if (node.gate.on_probation(now))
        return "was unhealthy; it stands again in " + time_text(node.gate.probation_left(now));
    if (lease_refused(node, now)) return "does not stand: too many members refuse so long a lease";
    return {};
}

std::string why(const Parts& node, Instant now, const HostReasons& reasons,
                const std::string& hindered) {
    if (node.tenure.leads()) return "leads" + why_leading(node, now);
    if (node.role() == Role::stepping_down) {
        if (node.tenure.step_down().reason == DeposedReason::stalled)
            return "steps down: its task has stalled and has not ended";
        if (!node.own_lease_valid(now))
            return "steps down: its lease is over, its task has not ended";
        return "steps down: its task is ending";
    }
    if (node.role() == Role::candidate)
        return "stands for epoch " + std::to_string(node.epoch().value) + why_leading(node, now);
    if (!reasons.joining.empty() && (node.list().empty() || node.removed())) return reasons.joining;
    const bool is_apart = !quorum_connected(node, now) && !reasons.unconnected.empty();
    const std::string apart = is_apart ? "; " + reasons.unconnected : "";
    if (silent(node, now)) return why_silent(node, now) + apart;
    if (node.removed()) return "removed: not in the list of members " + to_text(*node.list().tag());
    const LeaderView leader = user_leader(node, now);
    if (leader.leader)
        return "follows " + std::to_string(leader.leader.value) +
               (hindered.empty() ? "" : "; " + hindered);
    if (!quorum_connected(node, now))
        return "no majority: hears " + std::to_string(node.peers.connected(now).size() + 1) +
               " of " + std::to_string(node.size()) + apart +
               (hindered.empty() ? "" : "; " + hindered);
    if (!hindered.empty()) return hindered;
    if (node.config().priority.is_never()) return "never a candidate";
    if (node.gate.stopping()) return "is being stopped";
    const std::string stands_back = "stands back: " + std::to_string(node.setup.self().value);
    if (node.gate.reserved_for_other(now, node.setup.self()))
        return stands_back + " promised to " + std::to_string(node.gate.successor().value);
    if (const std::string bound_by = why_bound(node, now); !bound_by.empty())
        return stands_back + bound_by;
    if (node.gate.stands_back(now)) return "stands back after its own resignation";
    return "no leader is known: an election is due";
}

}  // namespace

View view_of(const Parts& node, Instant now, const HostReasons& reasons) {
    View view;
    view.self = node.setup.self();
    view.members = node.setup.members();
    view.has_list = !node.list().empty();
    view.list = node.list().empty() ? node.config().members : node.list();
    view.role = node.role();
    const LeaderView leader = user_leader(node, now);
    view.leader = leader.leader;
    view.epoch = leader.leader ? leader.epoch : node.reported.epoch();
    view.advertised = std::string(advertised_by(node, leader.leader));
    if (node.fenced() && leader.leader) {
        const Duration left = leader.leader == node.setup.self() ? lease_left(now, node.lease_end())
                                                                 : promise_left(now, leader.until);
        view.lease_left = std::max(left, Duration{0});
    }
    view.connected = node.peers.connected(now);
    view.quorum_connected = quorum_connected(node, now);
    view.versions.resize(node.setup.members().places());
    for (const Index i : node.setup.others()) view.versions[i] = node.version_with(i);
    view.fenced = node.fenced();
    view.healthy = node.gate.healthy();
    view.eligible = eligible(node, now);
    fill_view(node, view, now);
    view.wrong = why_hindered(node, now, reasons);
    view.why = why(node, now, reasons, view.wrong);
    return view;
}

}  // namespace bullring::protocol
