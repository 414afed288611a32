#include "protocol/membership/hindrances.hpp"

#include "protocol/membership/callers.hpp"

namespace bullring::protocol {

namespace {

std::string named(NodeId id) { return "node " + std::to_string(id.value); }

}  // namespace

std::string contradiction(const Parts& node, Instant now, const MemberChange& change) {
    using What = MemberChange::What;
    const Membership& base = node.holder.base();
    const MemberEntry* const member = base.find(change.id);
    if (change.what == What::add) {
        if (member != nullptr)
            return named(change.id) + " is a member already, at " + member->address +
                   "; its address is changed by member address";
        if (base.size() == members_max)
            return "the cluster has " + std::to_string(members_max) +
                   " members, which is the most; remove one, or let further instances watch";
    } else if (member == nullptr) {
        return named(change.id) + " is not a member; it is added by member add";
    }
    if (!change.address.empty())
        for (const MemberEntry& other : base.entries())
            if (other.address == change.address && other.id != change.id &&
                (!says_it_is_at(node, change.id, change.address) ||
                 answers_at_its_address(node, now, other.id)))
                return named(other.id) + " has the address " + change.address;
    if (const auto older = who_cannot_follow_lists(node))
        return named(*older) +
               " speaks a version of the wire format without lists that change, or without the "
               "cluster's id; upgrade all members first";
    if (!with(base, change, {})) return named(change.id) + " is the last voter";
    return {};
}

// C11.3
std::optional<NodeId> who_cannot_follow_lists(const Parts& node) {
    const std::uint16_t needed = node.identity().id ? version_with_identity : version_with_tags;
    for (const Index i : node.setup.others())
        if (const auto version = node.version_with(i); version != 0 && version < needed)
            return node.id(i);
    return std::nullopt;
}

std::string hindrance(const Parts& node, Instant now, const MemberChange& change) {
    using What = MemberChange::What;
    if (change.what == What::remove && change.id == node.setup.self())
        return named(change.id) + " leads; a leader hands over before it is removed";
    if (change.what == What::promote) {
        const Index i = node.holder.base().find(change.id)->slot;
        if (i != node.me() && node.peers[i].refused)
            return named(change.id) + " refuses this node; the logs of both say why";
        if (i != node.me() && !node.peers.connected(i, now))
            return named(change.id) + " is not connected";
        if (i != node.me() && node.peers[i].heartbeat.recovering)
            return named(change.id) + " is silent after its start; ask again when it votes";
    }
    const Membership next = *with(node.holder.base(), change, {});
    // Those who would have a vote, are connected and give their vote now.
    MemberSet there;
    for (const Index i : next.voters())
        if (i == node.me() || (node.peers.connected(i, now) && !node.peers[i].heartbeat.recovering))
            there.insert(i);
    if (!next.is_majority(there))
        return "no majority of the new voters would be connected: " + std::to_string(there.size()) +
               " of " + std::to_string(next.voters().size());
    return {};
}

}  // namespace bullring::protocol
