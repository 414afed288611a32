// The holder (PROTOCOL R1, R3): a candidacy, the grants that are counted for it, and the renewals.
#include <algorithm>

#include "protocol/assert.hpp"
#include "protocol/core.hpp"

namespace bullring::protocol {

bool Core::own_lease_valid(Instant now) const {
    if (role_ != Role::leader && role_ != Role::stepping_down) return false;
    return lease_valid(now, textbook() ? textbook_end_ : lease_end());
}

bool Core::may_campaign(Instant now) const {
    return role_ == Role::follower && eligible(now) && !silent(now) && promise_free(now);
}

bool Core::may_start(Instant now) const {
    if (!may_campaign(now) || leader_known(now) || !quorum_connected(now)) return false;
    if (!due(now, retry_at_) || !due(now, start_at_)) return false;
    if (textbook()) {
        // Who has just started waits until it can have heard of the others, and they of it.
        if (leader_ever_known_ || due(now, started_ + timing().suspect_after)) return true;
        const MemberSet others = connected(now);
        return others.size() + 1 == size() && can_send_to_all(others);
    }
    // Votes that cannot be had yet are not asked for.
    std::size_t voters = 1;
    for (Index i = 0; i < size(); ++i)
        if (connected(i, now) && !peers_[i].heartbeat.recovering) ++voters;
    if (voters < majority()) return false;
    // A cold start elects the highest: wait for those of higher rank that are still silent, or that
    // cannot be asked yet: their heartbeat may be here before the answer to our greeting.
    if (leader_ever_known_) return true;
    if (due(now, recovered_at_ + promise_length(timing().lease))) return true;
    // One that asks again without a file (R6) is out of reach for a moment, and still silent.
    for (Index i = 0; i < size(); ++i) {
        const Heartbeat& last = peers_[i].heartbeat;
        if (i != me_ && own_rank() < rank(i) && last.recovering && last.eligible) return false;
    }
    return can_send_to_all(connected_higher(now));
}

bool Core::waits_for_disk() const {
    return !textbook() && std::max(promise_.vmax(), max_seen_) + 1 > disk_.hw;
}

void Core::say_election_started(Step& step, const char* reason) {
    step.act(ElectionStarted{std::max(promise_.vmax(), max_seen_) + 1, reason});
}

bool Core::answer_call(Step& step) {
    if (call_ == Call::none) return false;
    if (!may_campaign(step.now)) {
        call_ = Call::none;
        return false;
    }
    if (call_ == Call::disk && waits_for_disk()) return false;
    if (call_ == Call::successor) say_election_started(step, "named as the successor");
    call_ = Call::none;
    return true;
}

std::optional<Coordinator> Core::campaign(Step& step) {
    if (!may_campaign(step.now)) return std::nullopt;
    const Epoch epoch = std::max({promise_.vmax(), max_seen_, lease_.epoch()}) + 1;
    if (textbook()) {
        max_seen_ = epoch;
        become_candidate(step, epoch);
        become_leader(step);
        next_renewal_ = never;
        return Coordinator{epoch, timing().lease, step.now, true, false};
    }
    if (epoch > disk_.hw) {
        want_durable(epoch + reserve_ahead, Duration{0});
        call_ = Call::disk;
        return std::nullopt;
    }
    // The own promise first: without it an epoch could be used twice (R1).
    const Vote own = vote(step, {own_key(), epoch, timing().campaign_lease, false, no_session});
    if (own.kind != Vote::Kind::granted) return std::nullopt;
    become_candidate(step, epoch);
    lease_.count(me_, step.now + timing().campaign_lease, no_session);
    grants_changed(step);
    return Coordinator{epoch, timing().campaign_lease, step.now, false, ties()};
}

std::optional<Coordinator> Core::renew_if_due(Step& step) {
    if (!due(step.now, next_renewal_) || !own_lease_valid(step.now)) return std::nullopt;
    next_renewal_ = step.now + timing().heartbeat;
    const Vote own = vote(step, {own_key(), epoch(), timing().lease, true, no_session});
    if (own.kind == Vote::Kind::granted) {
        lease_.count(me_, step.now + timing().lease, no_session);
        grants_changed(step);
    }
    if (size() == 1) return std::nullopt;
    return Coordinator{epoch(), timing().lease, step.now, true, ties()};
}

void Core::on_grant(Step& step, Index voter, const Grant& grant) {
    if (!counting() || grant.epoch != epoch() || grant.holder_incarnation != incarnation_) return;
    // A second process with the voter's id, elsewhere, cannot vote.
    const Peer& peer = peers_[voter];
    if (!peer.has_ack || peer.ack.incarnation != grant.voter_incarnation) return;
    if (grant.tied_session) {
        const DialledSession* session = sessions_.dialled(grant.tied_session);
        // A session whose handshake is not done may still be closed on a time-out.
        if (session == nullptr || session->peer != voter ||
            session->state == DialledState::greeting)
            return;
    }
    // No voter can have granted more than was asked for, nor before it was asked.
    const Duration asked = role_ == Role::candidate ? timing().campaign_lease : timing().lease;
    if (grant.lease.ns <= 0 || grant.lease > asked) return;
    if (grant.stamp != earlier(grant.stamp, step.now)) return;
    const Instant end = grant.stamp + grant.lease;
    if (!lease_valid(step.now, end)) return;
    lease_.count(voter, end, grant.tied_session);
    refused_by_.erase(voter);
    grants_changed(step);
}

void Core::grants_changed(Step& step) {
    if (role_ == Role::candidate && lease_valid(step.now, lease_end())) return become_leader(step);
    if (role_ == Role::leader) publish(step);
}

void Core::on_nack(Step& step, Index voter, const Nack& nack) {
    const bool believed = learn_epoch(step.now, nack.promised_epoch);
    if (nack.holder_incarnation != incarnation_ || nack.epoch != epoch()) return;
    if (nack.reason == NackReason::busy && nack.promise_holder && believed)
        adopt_view(step, voter,
                   {nack.promise_holder, nack.promised_epoch, step.now + nack.remaining, false});
    if (role_ != Role::candidate) return;
    // The voter has not seen that end yet; it has parked the request and will serve it then.
    if (nack.reason == NackReason::busy && nack.parked &&
        gone_just_now(nack.promise_holder, step.now))
        return;
    // At once only where the next epoch is another one than this.
    if (nack.reason == NackReason::stale && believed && nack.promised_epoch >= epoch()) {
        abandon(step, Duration{0});
        retry_at_ = step.now;
        call_ = Call::higher_epoch;
        return;
    }
    refused_by_.insert(voter);
    refused_wait_[voter] = nack.remaining;
    if (cannot_win_any_more()) abandon(step, wait_until_quorum_free(step.now));
}

bool Core::cannot_win_any_more() const { return size() - refused_by_.size() < majority(); }

Duration Core::wait_until_quorum_free(Instant now) const {
    const std::size_t granted = lease_.voters(now).size();
    const std::size_t unknown = size() - std::min(size(), granted + refused_by_.size());
    if (granted + unknown >= majority()) return Duration{0};
    std::vector<Duration> waits;
    for (Index i = 0; i < size(); ++i)
        if (refused_by_.contains(i)) waits.push_back(refused_wait_[i]);
    std::sort(waits.begin(), waits.end());
    const std::size_t needed = majority() - granted - unknown;
    if (needed == 0 || needed > waits.size()) return Duration{0};
    return std::clamp(waits[needed - 1], Duration{0}, longest_promise());
}

void Core::abandon(Step& step, Duration wait_at_least) {
    if (role_ != Role::candidate) return;
    const Epoch given_up = epoch();
    become_follower(step);
    promise_.release_resigned(own_key(), given_up);
    broadcast(step, Resign{given_up, nobody});
    const auto higher = static_cast<std::int64_t>(connected_higher(step.now).size());
    const Duration spread = rng_.up_to(timing().poll_wait * 2 / 5) * (1 + higher);
    retry_at_ = step.now + std::max(wait_at_least, spread);
}

}  // namespace bullring::protocol
