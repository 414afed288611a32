#include "protocol/membership/dealing.hpp"

#include "protocol/sessions/ends.hpp"

namespace bullring::protocol {

namespace {

Membership known_members(const Parts& node) {
    if (!node.tenure.follows()) {
        const auto& next = node.holder.lease().next();
        return with_self(next ? joined(node.holder.base(), next->list()) : node.holder.base(),
                         node.setup.self());
    }
    if (!node.list().empty()) return with_self(node.list(), node.setup.self());
    // C8: a list that was shown is an address book, and nothing else.
    if (!node.changes.shown.empty()) return with_self(node.changes.shown, node.setup.self());
    return with_self(node.config().members, node.setup.self());
}

void deal_with(Parts& node, Step& step, const Membership& members) {
    if (members == node.setup.members()) return;
    const Membership before = node.setup.members();
    for (const Index i : node.setup.others())
        if (members.id(i) != node.id(i)) {
            end_all_sessions(node, step, i);
            node.changes.twin_over = later(node.changes.twin_over, node.peers[i].twin_over);
        }
    node.setup.set_members(members);
    node.peers.follow(node.setup, step.now);
    node.recovery.follow(node.setup);
    step.act(DealWith{members});
}

}  // namespace

void follow_lists(Parts& node, Step& step) { deal_with(node, step, known_members(node)); }

}  // namespace bullring::protocol
