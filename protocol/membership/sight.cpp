#include "protocol/membership/sight.hpp"

#include "protocol/membership/callers.hpp"

namespace bullring::protocol {

std::optional<NodeId> left_behind(const Parts& node) {
    const std::uint16_t needed = node.identity().id ? version_with_identity : version_with_tags;
    for (const Index i : node.setup.others())
        if (const auto version = node.version_with(i); version != 0 && version < needed)
            return node.id(i);
    return std::nullopt;
}

Changed changed_now(const Parts& node, Instant now, const MemberChange& change, Tag tag) {
    Sight sight;
    sight.leader = node.setup.self();
    sight.connected = node.peers.connected(now);
    for (const Index i : node.setup.others()) {
        if (node.peers[i].heartbeat.recovering) sight.silent.insert(i);
        if (node.peers[i].refused) sight.refusing.insert(i);
    }
    sight.reached = reached_at_their_addresses(node, now);
    sight.caller_is_there = calls_from_there(node, change);
    sight.behind = left_behind(node);
    return changed(node.holder.base(), change, sight, tag);
}

}  // namespace bullring::protocol
