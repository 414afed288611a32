// The answer to an operator: the view, and in one sentence why a node is what it is.
#include <algorithm>

#include "protocol/member/member.hpp"

namespace bullring::protocol {

View Member::view(Instant now, const HostReasons& reasons) const {
    View view;
    view.self = setup_.self();
    view.members = setup_.members();
    view.has_list = !list().empty();
    view.list = list().empty() ? config().members : list();
    view.role = role();
    const LeaderView leader = user_leader(now);
    view.leader = leader.leader;
    view.epoch = leader.leader ? leader.epoch : reported_.epoch();
    view.advertised = advertised_by(leader.leader);
    if (fenced() && leader.leader) {
        const Duration left = leader.leader == setup_.self() ? lease_left(now, lease_end())
                                                             : promise_left(now, leader.until);
        view.lease_left = std::max(left, Duration{0});
    }
    view.connected = peers_.connected(now);
    view.quorum_connected = quorum_connected(now);
    view.versions.resize(setup_.members().places());
    for (const Index i : setup_.others()) view.versions[i] = version_with(i);
    view.fenced = fenced();
    view.healthy = gate_.healthy();
    view.eligible = eligible(now);
    fill_view(view, now);
    view.wrong = why_hindered(now, reasons);
    view.why = why(now, reasons, view.wrong);
    return view;
}

/// Rounded up: what is not over yet never reads as nothing.
std::string Member::time_text(Duration left) {
    const auto whole = [&](Duration unit) {
        return std::to_string((left.ns + unit.ns - 1) / unit.ns);
    };
    return left > seconds(1) ? whole(seconds(1)) + " s" : whole(milliseconds(1)) + " ms";
}

std::string Member::ids_text(MemberSet members) const {
    std::string text;
    for (const Index i : members) text += (text.empty() ? "" : ", ") + std::to_string(id(i).value);
    return text;
}

std::string Member::why(Instant now, const HostReasons& reasons,
                        const std::string& hindered) const {
    if (tenure_.leads()) return "leads" + why_leading(now);
    if (role() == Role::stepping_down) {
        if (tenure_.step_down().reason == DeposedReason::stalled)
            return "steps down: its task has stalled and has not ended";
        if (!own_lease_valid(now)) return "steps down: its lease is over, its task has not ended";
        return "steps down: its task is ending";
    }
    if (role() == Role::candidate)
        return "stands for epoch " + std::to_string(epoch().value) + why_leading(now);
    if (!reasons.joining.empty() && (list().empty() || removed())) return reasons.joining;
    const bool is_apart = !quorum_connected(now) && !reasons.unconnected.empty();
    const std::string apart = is_apart ? "; " + reasons.unconnected : "";
    if (silent(now)) return why_silent(now) + apart;
    if (removed()) return "removed: not in the list of members " + to_text(*list().tag());
    const LeaderView leader = user_leader(now);
    if (leader.leader)
        return "follows " + std::to_string(leader.leader.value) +
               (hindered.empty() ? "" : "; " + hindered);
    if (!quorum_connected(now))
        return "no majority: hears " + std::to_string(peers_.connected(now).size() + 1) + " of " +
               std::to_string(size()) + apart + (hindered.empty() ? "" : "; " + hindered);
    if (!hindered.empty()) return hindered;
    if (config().priority.is_never()) return "never a candidate";
    if (gate_.stopping()) return "is being stopped";
    const std::string stands_back = "stands back: " + std::to_string(setup_.self().value);
    if (gate_.reserved_for_other(now, setup_.self()))
        return stands_back + " promised to " + std::to_string(gate_.successor().value);
    if (const std::string bound_by = why_bound(now); !bound_by.empty())
        return stands_back + bound_by;
    if (gate_.stands_back(now)) return "stands back after its own resignation";
    return "no leader is known: an election is due";
}

// The reason that keeps it from standing for longer than an election takes, so that an operator
// should know of it also while somebody else leads.
std::string Member::why_hindered(Instant now, const HostReasons& reasons) const {
    if (!reasons.joining.empty()) return reasons.joining;
    if (!gate_.healthy())
        return "unhealthy" + (reasons.unhealthy.empty() ? "" : ": " + reasons.unhealthy);
    if (config().priority.is_never()) return {};
    if (!gate_.willing())
        return "does not stand: " +
               (reasons.unwilling.empty() ? "it has nobody to do the work" : reasons.unwilling);
    if (gate_.on_probation(now))
        return "was unhealthy; it stands again in " + time_text(gate_.probation_left(now));
    if (lease_refused(now)) return "does not stand: too many members refuse so long a lease";
    return {};
}

}  // namespace bullring::protocol
