#include "protocol/membership/changing.hpp"

#include <string>
#include <utility>

#include "protocol/membership/forgetting.hpp"
#include "protocol/membership/giving_id.hpp"
#include "protocol/membership/sight.hpp"

namespace bullring::protocol {

namespace {

/// So long a list may be on its way before it is undone, in leases of the leader.
constexpr std::int64_t leases_to_settle = 2;

void propose(Parts& node, Instant now, const Membership& next) {
    forget_who_has(node, next);  // nobody: what is called so there is of another cluster
    node.holder.propose(next, now);
    node.holder.renew_at_once(now);
}

Tag next_tag(const Parts& node) {
    const Tag newest = *node.holder.newest().tag();
    return newest.epoch == node.epoch() ? Tag{node.epoch(), newest.version + 1}
                                        : Tag{node.epoch(), 0};
}

// C6.1
bool somebody_is_ahead(const Parts& node, Instant now) {
    for (const Index i : node.peers.connected(now)) {
        const auto& tag = node.peers[i].tag;
        if (tag > node.holder.base().tag() && tag->epoch < node.epoch()) return true;
    }
    return false;
}

void end_change(Parts& node, Step& step, bool done, std::string why) {
    if (node.changes.pending->request.asker != Asker::none)
        step.act(MembersAnswer{node.changes.pending->request, done, std::move(why)});
    node.changes.pending.reset();
}

void list_settled(Parts& node, Step& step) {
    if (!node.changes.pending || !node.changes.pending->proposed) return;
    const bool undone = node.changes.pending->undone;
    if (node.changes.pending->forgets && !undone)
        tell_who_is_forgotten(node, step, node.changes.pending->change.id);
    end_change(node, step, !undone,
               undone ? "too few of the new voters have answered; the list is as it was" : "");
}

}  // namespace

void on_members_requested(Parts& node, Step& step, const MembersRequested& event) {
    const auto answer = [&](bool done, std::string why, bool lasting = false) {
        if (event.request.asker != Asker::none)
            step.act(MembersAnswer{event.request, done, std::move(why), lasting});
    };
    if (!node.fenced()) return answer(false, "with quorum none the members never change", true);
    if (!node.tenure.leads() || !node.own_lease_valid(step.now))
        return answer(false, "node " + std::to_string(node.setup.self().value) + " does not lead");
    if (node.changes.pending || node.holder.lease().next())
        return answer(false, "a change is under way; ask again when it is done");
    if (is_so_already(node.holder.base(), event.change)) return answer(true, {});
    if (Changed made = changed_now(node, step.now, event.change, {}); !made.next)
        return answer(false, std::move(made.why), made.lasting);
    node.changes.pending = PendingChange{event.change, event.request};
}

void manage_list(Parts& node, Step& step) {
    // C2.4
    if (!node.tenure.leads() || !node.own_lease_valid(step.now)) {
        if (node.changes.pending)
            end_change(node, step, false, "the leadership has ended; ask the next leader");
        return;
    }
    if (node.holder.settle_if_held(step.now)) list_settled(node, step);
    const auto& next = node.holder.lease().next();
    if (next) {
        // C2.3: it can only be undone.
        const bool late =
            due(step.now, node.holder.proposed_at() + node.timing().lease * leases_to_settle);
        if (late && node.changes.pending && node.changes.pending->proposed &&
            !node.changes.pending->undone) {
            node.changes.pending->undone = true;
            propose(node, step.now, retagged(node.holder.base(), next_tag(node)));
        }
        return;
    }
    if (identity_is_awaited(node)) return;
    forget_who_is_gone(node, step.now);
    // C2.1: only on top of a list of its own epoch. C6.1: and above one that was shown. C8.4: and
    // for who has none.
    const bool own = node.holder.base().tag()->epoch == node.epoch();
    const bool restates = !own && (node.changes.pending || somebody_is_ahead(node, step.now) ||
                                   somebody_is_to_be_told(node, step.now));
    if (!restates && !node.changes.pending) return;
    if (restates && !left_behind(node))
        return propose(node, step.now, retagged(node.holder.base(), next_tag(node)));
    if (!node.changes.pending) return;
    // C2.2: what was possible when it was asked for may not be so any more.
    Changed made = changed_now(node, step.now, node.changes.pending->change, next_tag(node));
    if (!made.next) return end_change(node, step, false, std::move(made.why));
    node.changes.pending->proposed = true;
    propose(node, step.now, *made.next);
}

void forget_who_has(Parts& node, const Membership& one) {
    for (const Index i : node.setup.others())
        if (node.peers[i].tag == one.tag()) node.peers[i].tag.reset();
}

// C8.4
bool somebody_is_to_be_told(const Parts& node, Instant now) {
    const Membership& base = node.holder.base();
    for (const Index i : base.all())
        if (i != node.me() && !base.voters().contains(i) && node.peers.heard(i, now) &&
            node.peers[i].heartbeat.recovering && !node.peers[i].tag)
            return true;
    return false;
}

// C5.4: its own disk gets the next list as all others do, by its own request, and only when its
// vote is the last that is missing: a list that nobody else has dies with its leader.
const Membership& list_for_own_vote(const Parts& node, Instant now) {
    const auto& next = node.holder.lease().next();
    if (!next) return node.holder.base();
    MemberSet granting = next->voters(now);
    granting.insert(node.me());
    const bool has_it = node.list().tag() > node.holder.base().tag();
    return has_it || next->list().is_majority(granting) ? next->list() : node.holder.base();
}

}  // namespace bullring::protocol
