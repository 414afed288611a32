#include "protocol/membership/giving_id.hpp"

#include "protocol/membership/identity.hpp"

namespace bullring::protocol {

namespace {

/// More than the majority needs: one that has kept its disk where most have lost theirs.
bool somebody_is_to_tell(const Parts& node, Instant now) {
    // One that grants nothing until then tells nothing, perhaps never.
    if (due(now, node.tenure.elected_at() + node.setup.longest_promise())) return false;
    for (const Index i : node.peers.connected(now))
        if (node.holder.base().voters().contains(i) &&
            node.version_with(i) >= version_with_identity && !node.poll.has_told(node.id(i)))
            return true;
    return false;
}

bool majority_knows_of_ids(const Parts& node) {
    if (node.config().wire_highest < version_with_identity) return false;
    MemberSet knowing;
    knowing.insert(node.me());
    for (const Index i : node.setup.others())
        if (node.version_with(i) >= version_with_identity) knowing.insert(i);
    return node.holder.base().is_majority(knowing);
}

/// C11.7: a leader is one by the votes of its base: by them it is of their cluster, and of nobody
/// else's.
void note_told(Parts& node, Index by, const Identity& has) {
    if (node.holder.base().voters().contains(by)) node.poll.note(node.id(by), has);
}

}  // namespace

void manage_identity(Parts& node, Step& step) {
    if (!node.tenure.leads() || !node.own_lease_valid(step.now) || !majority_knows_of_ids(node))
        return;
    const ClusterId known_before = node.cluster_id();
    if (node.poll.epoch() != node.epoch()) node.poll = IdentityPoll(node.epoch());
    node.poll.note(node.setup.self(), node.reserve.on_disk().identity);
    // One that has only said HELLO may be another cluster's, at a mistaken address.
    const MemberSet supporters = node.grants(step.now);
    for (const Index i : node.setup.others())
        if (const ClusterId said = node.peers[i].cluster_id;
            said && supporters.contains(i) && node.is_same_run(i))
            note_told(node, i, {said, {}, true});
    if (!node.poll.given().id) {
        const auto newest = node.poll.newest();
        if (!newest) return;
        // C11.1: where a majority has none, no earlier leader has settled one.
        if (!newest->settled && !node.poll.majority_has_told(node.holder.base())) return;
        if (!newest->settled && somebody_is_to_tell(node, step.now)) return;
        ClusterId id = newest->id;
        while (!id) id = {node.rng.next()};
        node.poll.give(id);
        if (newest->settled) node.poll.settle();
    }
    // C11.3
    if (!node.poll.given().settled && node.poll.held_by_majority(node.holder.base()))
        node.poll.settle();
    learn_identity(node, step, node.poll.given());
    if (node.cluster_id() != known_before) part_with_strangers(node, step);
}

// C11.8: a list is built on one whose voters have it, so that those of the next one find it.
bool identity_is_awaited(const Parts& node) {
    return majority_knows_of_ids(node) && !node.poll.held_by_majority(node.holder.base());
}

Identity identity_to_tell(const Parts& node) {
    if (node.poll.epoch() == node.epoch() && node.poll.given().id) return node.poll.given();
    const Identity& own = node.reserve.on_disk().identity;
    return own.settled ? own : Identity{};
}

void on_identity_told(Parts& node, Step& step, Index voter, const Identity& has) {
    if (!node.tenure.leads()) return;
    if (node.poll.epoch() != node.epoch()) node.poll = IdentityPoll(node.epoch());
    note_told(node, voter, has);
    node.peers[voter].cluster_id = has.known();
    if (is_stranger(node, voter)) part_with(node, step, voter);
    manage_identity(node, step);
}

}  // namespace bullring::protocol
