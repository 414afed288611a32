#include "protocol/membership/changer.hpp"

#include <utility>

namespace bullring::protocol {

namespace {

using What = MemberChange::What;

std::string named(NodeId id) { return "node " + std::to_string(id.value); }

/// The reason that no waiting helps against; empty: there is none.
std::string contradiction(const Membership& base, const MemberChange& change, const Sight& sight) {
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
    // C13.2
    if (!change.address.empty())
        for (const MemberEntry& other : base.entries())
            if (other.address == change.address && other.id != change.id &&
                (!sight.caller_is_there || sight.reached.contains(other.slot)))
                return named(other.id) + " has the address " + change.address;
    // C11.8
    if (sight.behind)
        return named(*sight.behind) +
               " speaks a version of the wire format without lists that change, or without the "
               "cluster's id; upgrade all members first";
    if (!with(base, change, {})) return named(change.id) + " is the last voter";
    return {};
}

/// The reason that may be gone when the change is asked for again.
std::string hindrance(const Membership& base, const MemberChange& change, const Sight& sight,
                      const Membership& next) {
    // C2.5
    if (change.what == What::remove && change.id == sight.leader)
        return named(change.id) + " leads; a leader hands over before it is removed";
    if (change.what == What::promote && change.id != sight.leader) {
        const Index i = *base.index(change.id);
        if (sight.refusing.contains(i))
            return named(change.id) + " refuses this node; the logs of both say why";
        if (!sight.connected.contains(i)) return named(change.id) + " is not connected";
        if (sight.silent.contains(i))
            return named(change.id) + " is silent after its start; ask again when it votes";
    }
    // C2.6: those that would have a vote, are connected and give their vote now.
    MemberSet there;
    for (const Index i : next.voters())
        if (next.id(i) == sight.leader ||
            (sight.connected.contains(i) && !sight.silent.contains(i)))
            there.insert(i);
    if (!next.is_majority(there))
        return "no majority of the new voters would be connected: " + std::to_string(there.size()) +
               " of " + std::to_string(next.voters().size());
    return {};
}

}  // namespace

Changed changed(const Membership& base, const MemberChange& change, const Sight& sight, Tag tag) {
    if (std::string why = contradiction(base, change, sight); !why.empty())
        return {std::nullopt, std::move(why), true};
    Membership next = *with(base, change, tag);
    if (std::string why = hindrance(base, change, sight, next); !why.empty())
        return {std::nullopt, std::move(why), false};
    return {std::move(next), {}, false};
}

}  // namespace bullring::protocol
