#include "protocol/membership/told.hpp"

#include "protocol/membership/identity.hpp"
#include "protocol/membership/shown.hpp"
#include "protocol/sessions/ends.hpp"

namespace bullring::protocol {

namespace {

// C1.7: two that had no list agreed when they met, and one of the two may be told that of another
// cluster.
void meet_again(Parts& node, Step& step, const Membership& told) {
    for (const Index i : node.setup.others()) {
        if (node.peers[i].founders == told.founders()) continue;
        close_all_accepted(node, step, i);
        dial_again(node, step, i);
    }
}

}  // namespace

bool may_be_told(const Parts& node, Index from, const Coordinator& request) {
    if (!node.recovering() || node.recovery.had_file() || !request.renew) return false;
    if (!is_of_answered_cluster(node, from, request.identity)) return false;
    // C8.3: the sessions of before the end of its silence are closed: what they brought is not
    // read.
    if (node.recovery.waits_for_list()) return true;
    // C8.4: it has no vote in a list that was settled in the epoch of its leader.
    const MemberEntry* const self =
        request.members ? request.members->find(node.setup.self()) : nullptr;
    return request.settled && request.tag.epoch == request.epoch && self != nullptr && !self->votes;
}

void take_told(Parts& node, Step& step, const Coordinator& request) {
    const bool founders = request.tag == Tag{} && !request.members;
    const Membership& told =
        founders ? node.config().members : request.members.value_or(Membership{});
    if (told.find(node.setup.self()) == nullptr || told.tag() != request.tag) return;
    if (is_of_other_cluster(node, told) || !node.learn_epoch(step.now, request.epoch)) return;
    meet_again(node, step, told);
    go_on_with(node, step, told, request.identity.value_or(Identity{}));
    node.voter.raise_floor(node.max_seen);
}

void go_on_with(Parts& node, Step& step, const Membership& list, const Identity& identity) {
    node.recovery.floor_is_known();
    node.reserve.want(list);
    learn_identity(node, step, identity);
    // The list shown before was an address book, and nothing else; until the disk has it, so is
    // this.
    node.changes.shown = list;
}

}  // namespace bullring::protocol
