#include "protocol/membership/forgetting.hpp"

#include "protocol/membership/sight.hpp"
#include "protocol/values/durations.hpp"

namespace bullring::protocol {

namespace {

/// Its last word to this leader; or, if that is later, the begin of the leadership or of what the
/// two have to do with each other.
Instant missed_since(const Parts& node, Index i) {
    return later(later(node.peers[i].heard_at, node.peers[i].met_at), node.tenure.elected_at());
}

// C9.1, C9.2
bool may_be_forgotten(const Parts& node, Instant now, Index i) {
    return node.config().forget_after.ns > 0 && i != node.me() &&
           !node.holder.base().voters().contains(i) && !node.peers.heard(i, now) &&
           due(now, missed_since(node, i) + node.config().forget_after);
}

}  // namespace

void forget_who_is_gone(Parts& node, Instant now) {
    if (node.changes.pending) {
        // It may have come back before the list without it was proposed.
        const MemberEntry* const member = node.holder.base().find(node.changes.pending->change.id);
        const bool is_back = member == nullptr || !may_be_forgotten(node, now, member->slot);
        if (node.changes.pending->forgets && is_back) node.changes.pending.reset();
        return;
    }
    for (const Index i : node.holder.base().all()) {
        if (!may_be_forgotten(node, now, i)) continue;
        const MemberChange change{MemberChange::What::remove, node.holder.base().id(i), {}};
        if (!changed_now(node, now, change, {}).next) return;
        node.changes.pending = PendingChange{.change = change, .request = {}, .forgets = true};
        return;
    }
}

void tell_who_is_forgotten(const Parts& node, Step& step, NodeId member) {
    step.act(
        Note{Note::Level::info, member,
             "node " + std::to_string(member.value) + ", which has no vote and was not heard for " +
                 to_text(node.config().forget_after) + " (--forget-after), is no member any more"});
}

void collect_forgetting(const Parts& node, WakeTime& wake) {
    if (node.config().forget_after.ns == 0) return;
    for (const Index i : node.setup.others())
        if (!node.holder.base().voters().contains(i))
            wake.timer(missed_since(node, i) + node.config().forget_after);
}

}  // namespace bullring::protocol
