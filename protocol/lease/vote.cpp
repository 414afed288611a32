#include "protocol/lease/vote.hpp"

#include <algorithm>

#include "protocol/membership/identity.hpp"
#include "protocol/membership/shown.hpp"
#include "protocol/tenure/leaders.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

namespace {

Vote refused(NackReason reason, Duration remaining) {
    Vote vote;
    vote.reason = reason;
    vote.remaining = remaining;
    return vote;
}

Vote of_kind(Vote::Kind kind) {
    Vote vote;
    vote.kind = kind;
    return vote;
}

Vote stale(Epoch highest) {
    Vote vote;
    vote.promised_epoch = highest;
    return vote;
}

std::optional<Vote> refusal_outside_promise(const Parts& node, Instant now,
                                            const LeaseRequest& request) {
    // R2.1: silent after a restart (R6), for another process with its id, or stopping (R7.4).
    if (node.recovering() || node.leaving()) {
        const Recovery::Silence quiet =
            node.recovering() ? node.recovery.silence(now, node.peers) : Recovery::Silence{};
        return refused(NackReason::recovering,
                       quiet.known ? promise_left(now, quiet.until) : node.timing().campaign_wait);
    }
    if (silent(node, now))
        return refused(NackReason::recovering, promise_left(now, twin_over(node)));
    const auto from = node.setup.members().index(request.key.id);
    const bool by_other = from && *from != node.me();
    const Duration told = by_other ? node.peers[*from].introduction.lease : node.timing().lease;
    // R2.2: a lease that is too long, or whose sender would ask for one.
    if (std::max(request.lease, told) > node.timing().lease_max)
        return refused(NackReason::lease_too_long, node.timing().lease_max);
    // N3.5: a run that has ended binds nobody, whatever way its request comes.
    if (by_other && node.peers.is_buried(request.key, now))
        return refused(NackReason::unknown_holder, node.timing().campaign_wait);
    // R2.2a: a candidate is the process that answers at that member's address. A second process
    // with the id, elsewhere, counts its own vote, and with half of the others it would be a
    // majority beside another one that has the first process' vote.
    if (!request.renew && by_other &&
        (!node.peers[*from].has_ack ||
         node.peers[*from].ack.incarnation != request.key.incarnation))
        return refused(NackReason::unknown_holder, node.timing().campaign_wait);
    return std::nullopt;
}

}  // namespace

Vote vote(Parts& node, Step& step, const LeaseRequest& request) {
    const Instant now = step.now;
    // C1.5
    if (request.members && is_of_other_cluster(node, *request.members))
        return refused(NackReason::unknown_holder, node.timing().campaign_wait);
    // C11.4: a token may come by way of somebody who can't tell the two apart.
    const auto from = node.setup.members().index(request.key.id);
    if (from && *from != node.me() && is_stranger(node, *from))
        return refused(NackReason::unknown_holder, node.timing().campaign_wait);
    // R9.6: its own epochs are counted, one by one, from what it has believed before.
    const bool believed = request.key == node.own_key() || node.learn_epoch(now, request.epoch);
    if (auto refusal = refusal_outside_promise(node, now, request)) return *refusal;
    // R2.2b, R9.4: an epoch that is not believed.
    if (!believed) return refused(NackReason::epoch_too_high, EpochBound::window);
    // R2.2c: an epoch that its holder has resigned.
    if (const Epoch resigned = node.peers.resigned_epoch(request.key); request.epoch <= resigned)
        return stale(std::max(node.voter.promise().vmax(), resigned));
    const PromiseRequest asked{request.key, request.epoch, request.renew,
                               node.timing().promise(request.lease), request.session};
    const PromiseVerdict verdict = node.voter.promise().judge(asked, now);
    const Membership& own = node.reserve.newest_members();
    const auto with_list = [&](NackReason reason, Duration remaining) {
        Vote vote = refused(reason, remaining);
        vote.members = own;
        vote.identity = node.identity();
        return vote;
    };
    // R2.3: a voter whose promise to another holder is live refuses.
    if (verdict == PromiseVerdict::busy) {
        const Duration left = promise_left(now, node.voter.promise().end());
        // C3.3: one that is behind may not know the leader.
        Vote vote = request.tag < own.tag() ? with_list(NackReason::busy, left)
                                            : refused(NackReason::busy, left);
        vote.promise_holder = node.voter.promise().key().id;
        vote.promised_epoch = node.voter.promise().epoch();
        return vote;
    }
    // R2.4: a voter that keeps the leadership for a successor refuses other candidates.
    if (!request.renew && node.gate.reserved_for_other(now, request.key.id))
        return refused(NackReason::reserved, elapsed(now, node.gate.reserved_until()));
    // R2.5: an epoch that was used before, for all that is known here. The list of a leadership
    // that has ended is not taken either: the leader of today may have no newer one.
    if (verdict == PromiseVerdict::stale) return stale(node.voter.promise().vmax());
    // C3.1: never under an older list than its own.
    if (request.tag < own.tag())
        return with_list(NackReason::stale_members, node.timing().campaign_wait);
    // C3.2: under a newer one when that is on the disk.
    if (request.tag > own.tag() && request.members && request.members->tag() == request.tag) {
        if (from && *from != node.me() && !may_take_list_of(node, *from, request.identity)) {
            // C3.3: a token has passed one that leaves it out: its owner is asked for it.
            if (!request.identity) return with_list(NackReason::stale_members, Duration{0});
            note_list_refused(node, step, *from, request.tag);
            return refused(NackReason::unknown_holder, node.timing().campaign_wait);
        }
        learn_with_list(node, step, request.identity);
        node.reserve.want(*request.members);
    }
    if (request.tag != node.list().tag()) {
        if (node.reserve.newest_members().tag() == request.tag)
            return of_kind(Vote::Kind::after_disk);
        // It thought that this node had the list.
        return with_list(NackReason::stale_members, Duration{0});
    }
    // C7.1
    if (node.removed()) return refused(NackReason::recovering, node.timing().campaign_wait);
    // R2.6: beyond what the disk knows; judged again from the start after the write.
    if (!node.reserve.covers(request.epoch, asked.length)) {
        const bool epoch_too = request.epoch > node.reserve.on_disk().hw;
        node.reserve.want(epoch_too ? node.reserve.ahead_of(request.epoch) : Epoch{}, asked.length);
        return of_kind(Vote::Kind::after_disk);
    }
    // R2.7: granted.
    node.voter.grant(asked, now);
    if (request.epoch > node.max_seen) node.max_seen = request.epoch;
    if (request.renew && request.key != node.own_key()) note_other_leads(node);
    return of_kind(Vote::Kind::granted);
}

Vote vote_for_itself(Parts& node, Step& step, Epoch epoch, Duration lease, bool renew,
                     const Membership& list) {
    return vote(node, step,
                {node.own_key(), epoch, lease, renew, no_session, *list.tag(), list, {}});
}

}  // namespace bullring::protocol
