// The voter's rules (PROTOCOL R2): whether a request is granted now, refused, or has to wait for
// the disk. Every grant of this node, to itself too, passes through Engine::vote.
#include <algorithm>

#include "protocol/engine/engine.hpp"

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

}  // namespace

std::optional<Vote> Engine::refusal_outside_promise(Instant now,
                                                    const LeaseRequest& request) const {
    // R2.1: silent after a restart (R6), for another process with its id, or stopping (R7.4).
    if (recovering() || leaving()) {
        const Recovery::Silence quiet =
            recovering() ? recovery_.silence(now, peers_) : Recovery::Silence{};
        return refused(NackReason::recovering,
                       quiet.known ? promise_left(now, quiet.until) : timing().campaign_wait);
    }
    if (silent(now)) return refused(NackReason::recovering, promise_left(now, twin_over()));
    const auto from = setup_.members().index(request.key.id);
    const bool by_other = from && *from != me();
    const Duration told = by_other ? peers_[*from].introduction.lease : timing().lease;
    // R2.2: a lease that is too long, or whose sender would ask for one.
    if (std::max(request.lease, told) > timing().lease_max)
        return refused(NackReason::lease_too_long, timing().lease_max);
    // N3: a run that has ended binds nobody, whatever way its request comes.
    if (by_other && peers_.is_buried(request.key, now))
        return refused(NackReason::unknown_holder, timing().campaign_wait);
    // R2.2a: a candidate is the process that answers at that member's address. A second process
    // with the id, elsewhere, counts its own vote, and with half of the others it would be a
    // majority beside another one that has the first process' vote.
    if (!request.renew && by_other &&
        (!peers_[*from].has_ack || peers_[*from].ack.incarnation != request.key.incarnation))
        return refused(NackReason::unknown_holder, timing().campaign_wait);
    return std::nullopt;
}

Vote Engine::vote(Step& step, const LeaseRequest& request) {
    const Instant now = step.now;
    // C1.5
    if (request.members && is_of_other_cluster(*request.members))
        return refused(NackReason::unknown_holder, timing().campaign_wait);
    // C11.4: a token may come by way of somebody who can't tell the two apart.
    const auto from = setup_.members().index(request.key.id);
    if (from && *from != me() && is_stranger(*from))
        return refused(NackReason::unknown_holder, timing().campaign_wait);
    // Its own epochs are counted, one by one, from what it has believed before.
    const bool believed = request.key == own_key() || learn_epoch(now, request.epoch);
    if (auto refusal = refusal_outside_promise(now, request)) return *refusal;
    // R2.2b: an epoch that is not believed.
    if (!believed) return refused(NackReason::epoch_too_high, EpochBound::window);
    // R2.2c: an epoch that its holder has resigned.
    if (const Epoch resigned = peers_.resigned_epoch(request.key); request.epoch <= resigned)
        return stale(std::max(promise().vmax(), resigned));
    const PromiseRequest asked{request.key, request.epoch, request.renew,
                               timing().promise(request.lease), request.session};
    const PromiseVerdict verdict = promise().judge(asked, now);
    const Membership& own = reserve_.newest_members();
    const auto with_list = [&](NackReason reason, Duration remaining) {
        Vote vote = refused(reason, remaining);
        vote.members = own;
        vote.identity = identity();
        return vote;
    };
    // R2.3: a voter whose promise to another holder is live refuses.
    if (verdict == PromiseVerdict::busy) {
        const Duration left = promise_left(now, promise().end());
        // C3.1: who is behind may not know the leader.
        Vote vote = request.tag < own.tag() ? with_list(NackReason::busy, left)
                                            : refused(NackReason::busy, left);
        vote.promise_holder = promise().key().id;
        vote.promised_epoch = promise().epoch();
        return vote;
    }
    // R2.4: a voter that keeps the leadership for a successor refuses other candidates.
    if (!request.renew && gate_.reserved_for_other(now, request.key.id))
        return refused(NackReason::reserved, elapsed(now, gate_.reserved_until()));
    // R2.5: an epoch that was used before, for all that is known here. The list of a leadership
    // that has ended is not taken either: the leader of today may have no newer one.
    if (verdict == PromiseVerdict::stale) return stale(promise().vmax());
    // C3.1: never under an older list than its own.
    if (request.tag < own.tag())
        return with_list(NackReason::stale_members, timing().campaign_wait);
    // C3.2: under a newer one when that is on the disk.
    if (request.tag > own.tag() && request.members && request.members->tag() == request.tag) {
        if (from && *from != me() && !may_take_list_of(*from, request.identity)) {
            // A token has passed somebody who leaves it out: its owner is asked for it.
            if (!request.identity) return with_list(NackReason::stale_members, Duration{0});
            note_list_refused(step, *from, request.tag);
            return refused(NackReason::unknown_holder, timing().campaign_wait);
        }
        learn_with_list(step, request.identity);
        reserve_.want(*request.members);
    }
    if (request.tag != list().tag()) {
        if (reserve_.newest_members().tag() == request.tag) return of_kind(Vote::Kind::after_disk);
        // It thought that this node had the list.
        return with_list(NackReason::stale_members, Duration{0});
    }
    // C7.1
    if (removed()) return refused(NackReason::recovering, timing().campaign_wait);
    // R2.6: beyond what the disk knows; judged again from the start after the write.
    if (!reserve_.covers(request.epoch, asked.length)) {
        const bool epoch_too = request.epoch > reserve_.on_disk().hw;
        reserve_.want(epoch_too ? reserve_.ahead_of(request.epoch) : Epoch{}, asked.length);
        return of_kind(Vote::Kind::after_disk);
    }
    // R2.7: granted.
    voter_.grant(asked, now);
    if (request.epoch > max_seen_) max_seen_ = request.epoch;
    if (request.renew && request.key != own_key()) note_other_leads();
    return of_kind(Vote::Kind::granted);
}

Vote Engine::vote_for_itself(Step& step, Epoch epoch, Duration lease, bool renew,
                             const Membership& list) {
    return vote(step, {own_key(), epoch, lease, renew, no_session, *list.tag(), list, {}});
}

void Engine::on_coordinator(Step& step, const AcceptedSession& from, const Coordinator& request) {
    if (may_be_told(from.peer, request)) return take_told(step, request);
    // C11.4: they have met when one of the two did not know its cluster yet.
    if (request.identity && request.identity->known())
        peers_[from.peer].cluster_id = request.identity->known();
    if (is_stranger(from.peer)) return part_with(step, from.peer);
    const bool tied = request.tie && from.release_ok;
    const Vote given = vote(step, {{id(from.peer), from.incarnation},
                                   request.epoch,
                                   request.lease,
                                   request.renew,
                                   tied ? from.id : no_session,
                                   request.tag,
                                   request.members,
                                   request.identity});
    if (given.kind == Vote::Kind::after_disk) return voter_.wait_for_disk(from, request, step.now);
    // C11.2: from the leader that it supports, and that is at that member's address.
    const bool renewed = given.kind == Vote::Kind::granted && request.renew;
    if (renewed && request.identity && is_same_run(from.peer))
        learn_identity(step, *request.identity);
    const bool busy = given.kind == Vote::Kind::refused && given.reason == NackReason::busy;
    answer(step, from, request, given, busy && voter_.park(from, request, step.now));
}

void Engine::answer(Step& step, const AcceptedSession& from, const Coordinator& request,
                    const Vote& given, bool parked) {
    if (given.kind == Vote::Kind::granted) {
        const bool tied = request.tie && from.release_ok;
        Grant grant{from.incarnation,
                    request.epoch,
                    request.lease,
                    request.stamp,
                    tied ? from.number : no_session,
                    setup_.incarnation(),
                    std::nullopt,
                    *list().tag()};  // C1.2
        if (request.renew) {
            if (request.identity) grant.identity = reserve_.on_disk().identity;
            grant.heartbeat = heartbeat(step.now);
            heartbeat_told_by_grant(step.now);
        }
        return send(step, from.peer, grant);
    }
    send(step, from.peer,
         Nack{from.incarnation, request.epoch, given.reason, given.promise_holder,
              given.promised_epoch, given.remaining, parked, given.members, given.identity});
}

// R2.8
void Engine::serve_parked(Step& step) {
    if (const auto parked = voter_.take_parked(step.now, timing().campaign_wait))
        on_coordinator(step, parked->from, parked->request);
}

void Engine::serve_waiting(Step& step) {
    if (reserve_.writing()) return;
    for (const PendingRequest& pending : voter_.take_waiting())
        on_coordinator(step, pending.from, pending.request);
}

// R9.3: a stranger's word on its lease makes nothing durable: its requests are refused, too.
Duration Engine::expected_promise(Index i) const {
    const Peer& peer = peers_[i];
    const Duration lease = peer.introduction.lease;
    return is_same_run(i) && lease <= timing().lease_max ? timing().promise(lease) : Duration{0};
}

}  // namespace bullring::protocol
