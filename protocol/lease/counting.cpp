#include "protocol/lease/counting.hpp"

#include "protocol/lease/campaign.hpp"
#include "protocol/membership/changing.hpp"
#include "protocol/membership/giving_id.hpp"
#include "protocol/membership/identity.hpp"
#include "protocol/membership/shown.hpp"
#include "protocol/tenure/leaders.hpp"

namespace bullring::protocol {

namespace {

void refused_by(Parts& node, Step& step, Index voter, Duration remaining) {
    node.holder.refuse(voter, remaining);
    // R3.11: no majority is left that has not refused.
    if (node.holder.cannot_win_any_more())
        abandon(node, step,
                node.holder.wait_until_quorum_free(step.now, node.setup.longest_promise()));
}

/// C12.2: the list that answers a request of this node. False: it is not believed.
bool take_answered(Parts& node, Step& step, Index voter, const Nack& nack) {
    const Membership& theirs = *nack.members;
    if (theirs.is_of_other_cluster_than(node.newest_list())) return false;  // C1.5
    node.peers[voter].tag = theirs.tag();
    if (!may_take_list_of(node, voter, nack.identity)) {
        note_list_refused(node, step, voter, *theirs.tag());
        return false;
    }
    learn_with_list(node, step, nack.identity);
    on_shown(node, step, theirs);
    return true;
}

void on_stale_members(Parts& node, Step& step, Index voter, const Nack& nack) {
    // It has an older one, of before it lost its disk: it is sent again, whole.
    if (nack.members && nack.members->tag() < node.holder.newest().tag()) {
        // Its session is of before the list was changed, and can carry none.
        if (node.version_with(voter) < version_with_tags) return part_with(node, step, voter);
        node.peers[voter].tag.reset();
        return greet(node, step, voter);
    }
    if (nack.members && !take_answered(node, step, voter, nack)) {
        if (node.role() == Role::candidate) refused_by(node, step, voter, nack.remaining);
        return;
    }
    if (node.role() != Role::candidate) return;
    // C4.1: it stands again under that list, once it is on the disk.
    abandon(node, step, Duration{0});
    if (node.changes.shown.tag() <= node.list().tag()) return;
    take_shown(node, step.now);
    node.election_timer.retry_at(step.now);
    node.election_timer.call(Call::disk);
}

}  // namespace

void on_grant(Parts& node, Step& step, Index voter, const Grant& grant) {
    if (!node.fenced()) return;
    // R3.1: a follower counts nothing. R3.2: nor does anybody for another epoch or run.
    if (node.tenure.follows() || grant.epoch != node.epoch() ||
        grant.holder_incarnation != node.setup.incarnation())
        return;
    // R3.2: a second process with the voter's id, elsewhere, cannot vote.
    Peer& peer = node.peers[voter];
    if (!peer.has_ack || peer.ack.incarnation != grant.voter_incarnation) return;
    if (grant.identity) on_identity_told(node, step, voter, *grant.identity);
    // C11.4: its session is older than what one of the two has learned since.
    if (is_stranger(node, voter)) return;
    peer.tag = grant.tag;
    // R3.3: of a session that is closed, or may still be, the FIN would release the promise.
    if (grant.tied_session) {
        const DialledSession* session = node.sessions.dialled(grant.tied_session);
        // A session whose handshake is not done may still be closed on a time-out.
        if (session == nullptr || session->peer != voter ||
            session->state == DialledState::greeting)
            return;
    }
    // R3.4: no voter can have granted more than was asked for, nor before it was asked.
    const Duration asked =
        node.role() == Role::candidate ? node.timing().campaign_lease : node.timing().lease;
    if (grant.lease.ns <= 0 || grant.lease > asked) return;
    if (grant.stamp != earlier(grant.stamp, step.now)) return;
    // R3.7: counted from the stamp. R3.5: while it lasts. R3.6: if it was asked for after the
    // barrier.
    const Instant end = grant.stamp + grant.lease;
    if (!lease_valid(step.now, end) || !node.holder.may_count(voter, grant.stamp)) return;
    const auto asked_before = list_for_own_vote(node, step.now).tag();
    node.holder.count(voter, end, grant.tied_session, grant.tag);
    // C5.4: the last vote that was missing but its own.
    if (list_for_own_vote(node, step.now).tag() != asked_before)
        node.holder.renew_at_once(step.now);
    grants_changed(node, step);
}

void on_nack(Parts& node, Step& step, Index voter, const Nack& nack) {
    if (!node.fenced()) return;
    if (nack.identity && nack.identity->known())
        node.peers[voter].cluster_id = nack.identity->known();
    if (is_stranger(node, voter)) return;
    const bool believed = node.learn_epoch(step.now, nack.promised_epoch);
    if (nack.holder_incarnation != node.setup.incarnation() || nack.epoch != node.epoch()) return;
    if (nack.reason == NackReason::stale_members) return on_stale_members(node, step, voter, nack);
    if (nack.members) take_answered(node, step, voter, nack);
    if (nack.reason == NackReason::busy && nack.promise_holder && believed)
        adopt_view(node, step, voter,
                   {nack.promise_holder, nack.promised_epoch, step.now + nack.remaining, false});
    if (node.role() != Role::candidate) return;
    // R3.10: the voter has not seen that end yet; it has parked the request and serves it then.
    if (nack.reason == NackReason::busy && nack.parked &&
        node.peers.gone_just_now(nack.promise_holder, step.now))
        return;
    // R3.10: again at once, but only where the next epoch is another one than this.
    if (nack.reason == NackReason::stale && believed && nack.promised_epoch >= node.epoch()) {
        abandon(node, step, Duration{0});
        node.election_timer.retry_at(step.now);
        node.election_timer.call(Call::higher_epoch);
        return;
    }
    refused_by(node, step, voter, nack.remaining);
}

}  // namespace bullring::protocol
