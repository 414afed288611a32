#include "protocol/handshake/judging.hpp"

#include <string>
#include <vector>

#include "protocol/handshake/hello.hpp"

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

// S3.1
std::optional<Refused> cluster_difference(const Parts& node, const Hello& yours) {
    const Config& settings = node.config();
    const std::uint16_t lowest = lowest_with(node.list());
    if (yours.version_highest < lowest || yours.version_lowest > settings.wire_highest)
        return refusal(Difference::version, versions_text(lowest, settings.wire_highest),
                       versions_text(yours.version_lowest, yours.version_highest));
    if (yours.cluster != settings.cluster)
        return refusal(Difference::cluster, settings.cluster, yours.cluster);
    // Of lists that nobody has changed the members are the founders: see seat_difference(node).
    const Membership shown = shown_by(yours);
    for (const Membership* mine : {&node.list(), &node.newest_list()})
        if (!both_unchanged(*mine, yours) && shown.is_of_other_cluster_than(*mine))
            return of_other_cluster(*mine, shown);
    if (are_of_different_clusters(node.cluster_id(), yours.cluster_id))
        return of_other_id(node.cluster_id(), yours.cluster_id);
    if (yours.quorum != settings.quorum)
        return refusal(Difference::quorum, name(settings.quorum), name(yours.quorum));
    if (yours.algorithm != settings.algorithm)
        return refusal(Difference::algorithm, name(settings.algorithm), name(yours.algorithm));
    if (yours.rho_ppm != settings.timing.rho_ppm)
        return refusal(Difference::rho, std::to_string(settings.timing.rho_ppm),
                       std::to_string(yours.rho_ppm));
    return std::nullopt;
}

// S3.2 to S3.4
std::optional<Refused> seat_difference(const Parts& node, const HelloReceived& event, Instant now) {
    const Hello& hello = event.hello;
    const std::vector<NodeId> ids =
        node.list().empty() ? node.config().members.ids() : node.list().ids();
    // A node that is to be added has none.
    if (both_unchanged(node.list(), hello) && !ids.empty() && !hello.members.empty() &&
        hello.members != ids)
        return refusal(Difference::members, protocol::ids_text(ids),
                       protocol::ids_text(hello.members), as_shown_to(hello, node.list()));
    const std::string said = std::to_string(hello.id.value);
    const auto index = node.setup.members().index(hello.id);
    const auto shown = as_shown_to(hello, node.list());
    // Members come and go: this node is still to be added, or does not know yet that the other was.
    const bool they_change = node.list().changed() || ids.empty() || hello.changed || hello.shown;
    if (!index && they_change)
        return refusal(Difference::member, protocol::ids_text(ids), said, shown);
    if (!index) return refusal(Difference::id, "one of " + protocol::ids_text(ids), said, shown);
    if (*index == node.me()) return own_id_refusal(node.setup.self());
    const Peer& peer = node.peers[*index];
    // S3.3
    if (node.peers.heard(*index, now) && peer.incarnation != hello.incarnation)
        return twin_refusal(hello.id);
    if (node.sessions.has_accepted(*index, hello.incarnation, hello.session))
        return refusal(Difference::session, "already open", std::to_string(hello.session.value));
    return std::nullopt;
}

}  // namespace bullring::protocol
