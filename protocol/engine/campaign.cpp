// The holder's rules (PROTOCOL R1, R3): a candidacy, the grants that are counted for it, and the
// renewals.
#include <algorithm>

#include "protocol/engine/engine.hpp"

namespace bullring::protocol {

// R1.4: a candidacy asks for L_c, never for the lease of a leader.
Coordinator Engine::candidacy(Instant now) {
    holder_.asked(now);
    return {.epoch = epoch(),
            .lease = timing().campaign_lease,
            .stamp = now,
            .renew = false,
            .tie = ties(),
            .heartbeat = std::nullopt,
            .tag = *holder_.newest().tag(),
            .members = holder_.newest(),
            .settled = false,
            .identity = identity()};
}

Coordinator Engine::renewal(Instant now) const {
    return {.epoch = epoch(),
            .lease = timing().lease,
            .stamp = now,
            .renew = true,
            .tie = ties(),
            .heartbeat = heartbeat(now),
            .tag = *holder_.newest().tag(),
            .members = holder_.newest(),
            .settled = !holder_.lease().next() && holder_.base().tag()->epoch == epoch(),
            .identity = identity_to_tell()};
}

std::optional<AddressedRequest> Engine::campaign(Step& step) {
    if (!may_campaign(step.now)) return std::nullopt;
    // R1.2: above every epoch that was heard of, and on the disk before it is asked for.
    const Epoch next = max_seen_ + 1;
    if (!next_epoch_durable()) {
        reserve_.want(reserve_.ahead_of(next), Duration{0});
        election_timer_.call(Call::disk);
        return std::nullopt;
    }
    // R1.3: its own promise first: without it an epoch could be used twice.
    const Membership base = list();  // C1.3
    const Vote own = vote_for_itself(step, next, timing().campaign_lease, false, base);
    if (own.kind != Vote::Kind::granted) return std::nullopt;
    tenure_.become_candidate(step, next);
    holder_.begin(next, base, step.now + timing().campaign_wait);
    holder_.count(me(), step.now + timing().campaign_lease, no_session, *base.tag());
    grants_changed(step);
    return AddressedRequest{candidacy(step.now), base.voters()};
}

bool Engine::renews() const {
    return tenure_.leads() || (role() == Role::stepping_down && tenure_.step_down().renewing);
}

bool Engine::renewal_due(Instant now) const {
    return renews() && due(now, holder_.next_renewal()) && own_lease_valid(now);
}

std::optional<AddressedRequest> Engine::renew_if_due(Step& step) {
    if (!renewal_due(step.now)) return std::nullopt;
    consider_preemption(step);
    if (!renewal_due(step.now)) return std::nullopt;  // it has given way
    // A member without a vote makes no majority (C5.3), and is asked half as often (§6).
    const bool all = holder_.next_is_for_all(step.now) || holder_.lease().next() ||
                     somebody_is_to_be_told(step.now);
    holder_.renewed(step.now, all, timing());
    const Membership asked = list_for_own_vote(step.now);
    const Vote own = vote_for_itself(step, epoch(), timing().lease, true, asked);
    if (own.kind == Vote::Kind::granted) {
        holder_.count(me(), step.now + timing().lease, no_session, *asked.tag());
        grants_changed(step);
    }
    if (size() == 1) return std::nullopt;
    heartbeat_told_by_renewal(step.now);
    MemberSet to;
    for (const Index i : all ? setup_.others() : holder_.base().voters())
        if (can_send(i)) to.insert(i);
    if (to.empty()) return std::nullopt;
    holder_.asked(step.now);
    return AddressedRequest{renewal(step.now), to};
}

void Engine::on_tying(Step& step, const Tying& event) {
    if (holder_.tied() == event.tie) return;
    holder_.set_tied(event.tie);
    // R4.5: who waits for grants that no session's end can release need not wait for a heartbeat.
    if (!event.tie && own_lease_valid(step.now) && renews()) holder_.renew_at_once(step.now);
}

void Engine::on_grant(Step& step, Index voter, const Grant& grant) {
    // R3.1: a follower counts nothing. R3.2: nor does anybody for another epoch or run.
    if (tenure_.follows() || grant.epoch != epoch() ||
        grant.holder_incarnation != setup_.incarnation())
        return;
    // R3.2: a second process with the voter's id, elsewhere, cannot vote.
    Peer& peer = peers_[voter];
    if (!peer.has_ack || peer.ack.incarnation != grant.voter_incarnation) return;
    if (grant.identity) on_identity_told(step, voter, *grant.identity);
    // C11.4: its session is older than what one of the two has learned since.
    if (is_stranger(voter)) return;
    peer.tag = grant.tag;
    // R3.3: of a session that is closed, or may still be, the FIN would release the promise.
    if (grant.tied_session) {
        const DialledSession* session = sessions_.dialled(grant.tied_session);
        // A session whose handshake is not done may still be closed on a time-out.
        if (session == nullptr || session->peer != voter ||
            session->state == DialledState::greeting)
            return;
    }
    // R3.4: no voter can have granted more than was asked for, nor before it was asked.
    const Duration asked = role() == Role::candidate ? timing().campaign_lease : timing().lease;
    if (grant.lease.ns <= 0 || grant.lease > asked) return;
    if (grant.stamp != earlier(grant.stamp, step.now)) return;
    // R3.7: counted from the stamp. R3.5: while it lasts. R3.6: if it was asked for after the
    // barrier.
    const Instant end = grant.stamp + grant.lease;
    if (!lease_valid(step.now, end) || !holder_.may_count(voter, grant.stamp)) return;
    const auto asked_before = list_for_own_vote(step.now).tag();
    holder_.count(voter, end, grant.tied_session, grant.tag);
    // C5.4: the last vote that was missing but its own.
    if (list_for_own_vote(step.now).tag() != asked_before) holder_.renew_at_once(step.now);
    grants_changed(step);
}

void Engine::grants_changed(Step& step) {
    // R3.8: a majority has granted until D.
    if (role() == Role::candidate && lease_valid(step.now, lease_end())) {
        holder_.win(step.now);
        return become_leader(step);
    }
    if (tenure_.leads()) publish(step);
}

void Engine::on_nack(Step& step, Index voter, const Nack& nack) {
    if (nack.identity && nack.identity->known()) peers_[voter].cluster_id = nack.identity->known();
    if (is_stranger(voter)) return;
    const bool believed = learn_epoch(step.now, nack.promised_epoch);
    if (nack.holder_incarnation != setup_.incarnation() || nack.epoch != epoch()) return;
    if (nack.reason == NackReason::stale_members) return on_stale_members(step, voter, nack);
    if (nack.members) take_answered(step, voter, nack);
    if (nack.reason == NackReason::busy && nack.promise_holder && believed)
        adopt_view(step, voter,
                   {nack.promise_holder, nack.promised_epoch, step.now + nack.remaining, false});
    if (role() != Role::candidate) return;
    // R3.10: the voter has not seen that end yet; it has parked the request and serves it then.
    if (nack.reason == NackReason::busy && nack.parked &&
        peers_.gone_just_now(nack.promise_holder, step.now))
        return;
    // R3.10: again at once, but only where the next epoch is another one than this.
    if (nack.reason == NackReason::stale && believed && nack.promised_epoch >= epoch()) {
        abandon(step, Duration{0});
        election_timer_.retry_at(step.now);
        election_timer_.call(Call::higher_epoch);
        return;
    }
    refused_by(step, voter, nack.remaining);
}

void Engine::refused_by(Step& step, Index voter, Duration remaining) {
    holder_.refuse(voter, remaining);
    // R3.11: no majority is left that has not refused.
    if (holder_.cannot_win_any_more())
        abandon(step, holder_.wait_until_quorum_free(step.now, setup_.longest_promise()));
}

/// C12.2: the list that answers a request of this node. False: it is not believed.
bool Engine::take_answered(Step& step, Index voter, const Nack& nack) {
    const Membership& theirs = *nack.members;
    if (theirs.is_of_other_cluster_than(newest_list())) return false;  // C1.5
    peers_[voter].tag = theirs.tag();
    if (!may_take_list_of(voter, nack.identity)) {
        note_list_refused(step, voter, *theirs.tag());
        return false;
    }
    learn_with_list(step, nack.identity);
    on_shown(step, theirs);
    return true;
}

void Engine::on_stale_members(Step& step, Index voter, const Nack& nack) {
    // It has an older one, of before it lost its disk: it is sent again, whole.
    if (nack.members && nack.members->tag() < holder_.newest().tag()) {
        // Its session is of before the list was changed, and can carry none.
        if (version_with(voter) < version_with_tags) return part_with(step, voter);
        peers_[voter].tag.reset();
        return greet(step, voter);
    }
    if (nack.members && !take_answered(step, voter, nack)) {
        if (role() == Role::candidate) refused_by(step, voter, nack.remaining);
        return;
    }
    if (role() != Role::candidate) return;
    // C4.1: it stands again under that list, once it is on the disk.
    abandon(step, Duration{0});
    if (changes_.shown.tag() <= list().tag()) return;
    take_shown(step.now);
    election_timer_.retry_at(step.now);
    election_timer_.call(Call::disk);
}

// R3.11: RESIGN goes to the voters, and the next try waits, the longer the more of higher rank
// there are.
void Engine::abandon(Step& step, Duration wait_at_least) {
    if (role() != Role::candidate) return;
    const Epoch given_up = epoch();
    become_follower(step);
    broadcast(step, Resign{given_up, nobody});
    const Duration spread =
        rng_.up_to(timing().poll_wait * 2 / 5) * (1 + higher_connected(step.now));
    election_timer_.retry_at(step.now + std::max(wait_at_least, spread));
}

}  // namespace bullring::protocol
