// Whether the sender of a HELLO is of this cluster, and whether it is taken for a member (PROTOCOL
// §3). Nothing that it says is believed before the first of the two (C12).
#include "protocol/member/hello.hpp"
#include "protocol/member/member.hpp"

namespace bullring::protocol {

namespace {

/// The list as a refusal shows it: the dialler may be behind (C6.1), or about to found a cluster
/// beside this one (C8.1).
std::optional<Membership> as_shown_to(const Hello& hello, const Membership& list) {
    const bool can_read = hello.version_highest >= version_with_tags;
    return can_read && !list.empty() ? std::optional(list) : std::nullopt;
}

/// They have no tag by which one could be the newer one.
bool both_unchanged(const Membership& list, const Hello& hello) {
    return !list.changed() && !hello.changed;
}

}  // namespace

/// The first field that differs, of those that all nodes of one cluster have in common.
std::optional<Refused> Member::cluster_difference(const Hello& yours) const {
    const Config& settings = config();
    const std::uint16_t lowest = lowest_with(list());
    if (yours.version_highest < lowest || yours.version_lowest > settings.wire_highest)
        return refusal(Difference::version, versions_text(lowest, settings.wire_highest),
                       versions_text(yours.version_lowest, yours.version_highest));
    if (yours.cluster != settings.cluster)
        return refusal(Difference::cluster, settings.cluster, yours.cluster);
    // Of lists that nobody has changed the members are the founders: see seat_difference().
    const Membership shown = shown_by(yours);
    for (const Membership* mine : {&list(), &newest_list()})
        if (!both_unchanged(*mine, yours) && shown.is_of_other_cluster_than(*mine))
            return of_other_cluster(*mine, shown);
    if (are_of_different_clusters(cluster_id(), yours.cluster_id))
        return of_other_id(cluster_id(), yours.cluster_id);
    if (yours.quorum != settings.quorum)
        return refusal(Difference::quorum, name(settings.quorum), name(yours.quorum));
    if (yours.algorithm != settings.algorithm)
        return refusal(Difference::algorithm, name(settings.algorithm), name(yours.algorithm));
    if (yours.rho_ppm != settings.timing.rho_ppm)
        return refusal(Difference::rho, std::to_string(settings.timing.rho_ppm),
                       std::to_string(yours.rho_ppm));
    return std::nullopt;
}

/// Why a node of this cluster is not taken for a member.
std::optional<Refused> Member::seat_difference(const HelloReceived& event, Instant now) const {
    const Hello& hello = event.hello;
    const std::vector<NodeId> ids = list().empty() ? config().members.ids() : list().ids();
    // A node that is to be added has none.
    if (both_unchanged(list(), hello) && !ids.empty() && !hello.members.empty() &&
        hello.members != ids)
        return refusal(Difference::members, protocol::ids_text(ids),
                       protocol::ids_text(hello.members), as_shown_to(hello, list()));
    const std::string said = std::to_string(hello.id.value);
    const auto index = setup_.members().index(hello.id);
    const auto shown = as_shown_to(hello, list());
    // Members come and go: this node is still to be added, or does not know yet that the other was.
    const bool they_change = list().changed() || ids.empty() || hello.changed || hello.shown;
    if (!index && they_change)
        return refusal(Difference::member, protocol::ids_text(ids), said, shown);
    if (!index) return refusal(Difference::id, "one of " + protocol::ids_text(ids), said, shown);
    if (*index == me()) return own_id_refusal(setup_.self());
    const Peer& peer = peers_[*index];
    if (peers_.heard(*index, now) && peer.incarnation != hello.incarnation)
        return twin_refusal(hello.id);
    if (sessions_.has_accepted(*index, hello.incarnation, hello.session))
        return refusal(Difference::session, "already open", std::to_string(hello.session.value));
    return std::nullopt;
}

void Member::refuse(Step& step, const HelloReceived& event, Refused refused) {
    refused.cluster_id = id_told_to(event.hello.version_highest, cluster_id());
    step.act(Send{event.session, refused});
    step.act(CloseSession{event.session});
    step.act(HandshakeRefused{event.hello.id, true, refused, event.addresses.remote});
}

// C12.1
void Member::believe(Step& step, const Word& word) {
    if (are_of_different_clusters(cluster_id(), word.cluster_id)) return;
    // C12.2: who has no id can't tell, nor can be told, of which cluster it is.
    if (list().empty() || identity().id == word.cluster_id) on_word(step, word);
}

}  // namespace bullring::protocol
