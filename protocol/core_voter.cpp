// The voter (PROTOCOL R2): whether a request is granted now, refused, or has to wait for the disk;
// the park slot; the reservation for a successor. Every grant of this node, to itself too, passes
// here.
#include <algorithm>

#include "protocol/assert.hpp"
#include "protocol/core.hpp"

namespace bullring::protocol {

bool Core::reserved_for_other(Instant now, NodeId id) const {
    return reservation_.successor && reservation_.successor != id && !due(now, reservation_.until);
}

bool Core::promise_free(Instant now) const {
    return !promise_.live(now) && !reserved_for_other(now, config_.self);
}

std::optional<Vote> Core::refusal_outside_promise(Instant now, const LeaseRequest& request) const {
    Vote vote;
    if (recovering_ || leaving()) {
        vote.reason = NackReason::recovering;
        const Silence quiet = recovering_ ? silence(now) : Silence{};
        vote.remaining = quiet.known ? promise_left(now, quiet.until) : timing().campaign_wait;
        return vote;
    }
    if (silent(now)) {
        vote.reason = NackReason::recovering;
        vote.remaining = promise_left(now, twin_over());
        return vote;
    }
    const auto from = config_.members.index(request.key.id);
    const Duration told = from && *from != me_ ? peers_[*from].introduction.lease : timing().lease;
    if (request.lease > timing().lease_max || told > timing().lease_max) {
        vote.reason = NackReason::lease_too_long;
        vote.remaining = timing().lease_max;
        return vote;
    }
    // Who stands must be the process that answers at that member's address. A second process with
    // the id, elsewhere, counts its own vote, and with half of the others it would be a majority
    // beside another one that has the first process' vote.
    if (!request.renew && from && *from != me_ &&
        (!peers_[*from].has_ack || peers_[*from].ack.incarnation != request.key.incarnation)) {
        vote.reason = NackReason::unknown_holder;
        vote.remaining = timing().campaign_wait;
        return vote;
    }
    return std::nullopt;
}

Vote Core::vote(Step& step, const LeaseRequest& request) {
    const Instant now = step.now;
    // Its own epochs are counted, one by one, from what it has believed before.
    const bool believed = request.key == own_key() || learn_epoch(now, request.epoch);
    if (auto refusal = refusal_outside_promise(now, request)) return *refusal;
    const PromiseRequest asked{request.key, request.epoch, request.renew,
                               promise_length(request.lease), request.session};
    Vote vote;
    if (!believed) {
        vote.reason = NackReason::epoch_too_high;
        vote.remaining = EpochBound::window;
        return vote;
    }
    if (const Epoch resigned = resigned_epoch_of(request.key); request.epoch <= resigned) {
        vote.reason = NackReason::stale;
        vote.promised_epoch = std::max(promise_.vmax(), resigned);
        return vote;
    }
    const PromiseVerdict verdict = promise_.judge(asked, now);
    if (verdict == PromiseVerdict::busy) {
        vote.reason = NackReason::busy;
        vote.promise_holder = promise_.key().id;
        vote.promised_epoch = promise_.epoch();
        vote.remaining = promise_left(now, promise_.end());
        return vote;
    }
    if (!request.renew && reserved_for_other(now, request.key.id)) {
        vote.reason = NackReason::reserved;
        vote.remaining = elapsed(now, reservation_.until);
        return vote;
    }
    if (verdict == PromiseVerdict::stale) {
        vote.reason = NackReason::stale;
        vote.promised_epoch = promise_.vmax();
        return vote;
    }
    // A write in progress counts as not done, and one that lowers promised_max as done already.
    const Duration durable_max =
        persisting_ ? std::min(disk_.promised_max, writing_.promised_max) : disk_.promised_max;
    if (request.epoch > disk_.hw || asked.length > durable_max) {
        want_durable(request.epoch > disk_.hw ? request.epoch + reserve_ahead : Epoch{},
                     asked.length);
        vote.kind = Vote::Kind::after_disk;
        return vote;
    }
    promise_.grant(asked, now);
    promised_since_start_ = std::max(promised_since_start_, asked.length);
    if (request.epoch > max_seen_) max_seen_ = request.epoch;
    if (request.renew && request.key != own_key()) {
        stand_back_until_ = long_ago;
        call_ = Call::none;
    }
    vote.kind = Vote::Kind::granted;
    return vote;
}

Epoch Core::resigned_epoch_of(HolderKey key) const {
    const auto from = config_.members.index(key.id);
    if (!from || peers_[*from].resigned_by != key.incarnation) return {};
    return peers_[*from].resigned_epoch;
}

void Core::on_coordinator(Step& step, const AcceptedSession& from, const Coordinator& request) {
    if (textbook()) return note_announcement(step.now, from.peer, request.epoch);
    const bool tied = request.tie && from.release_ok;
    const Vote given = vote(step, {{id(from.peer), from.incarnation},
                                   request.epoch,
                                   request.lease,
                                   request.renew,
                                   tied ? from.id : no_session});
    if (given.kind == Vote::Kind::after_disk) {
        std::erase_if(awaiting_disk_, [&](const PendingRequest& pending) {
            return pending.from.peer == from.peer;
        });
        awaiting_disk_.push_back({from, request, step.now});
        return;
    }
    const bool busy = given.kind == Vote::Kind::refused && given.reason == NackReason::busy;
    const bool park = busy && (!park_ || request.epoch >= park_->request.epoch);
    if (park) park_ = PendingRequest{from, request, step.now};
    answer(step, from, request, given, park);
}

void Core::note_announcement(Instant now, Index leader, Epoch epoch) {
    if (!learn_epoch(now, epoch) || leader == me_) return;
    peers_[leader].view = {id(leader), epoch, never, true};
    stand_back_until_ = long_ago;
    call_ = Call::none;
}

void Core::answer(Step& step, const AcceptedSession& from, const Coordinator& request,
                  const Vote& given, bool parked) {
    if (given.kind == Vote::Kind::granted) {
        const bool tied = request.tie && from.release_ok;
        send(step, from.peer,
             Grant{from.incarnation, request.epoch, request.lease, request.stamp,
                   tied ? from.number : no_session, incarnation_});
        return;
    }
    Nack nack;
    nack.holder_incarnation = from.incarnation;
    nack.epoch = request.epoch;
    nack.reason = given.reason;
    nack.promise_holder = given.promise_holder;
    nack.promised_epoch = given.promised_epoch;
    nack.remaining = given.remaining;
    nack.parked = parked;
    send(step, from.peer, nack);
}

void Core::serve_park(Step& step) {
    if (!park_) return;
    if (due(step.now, park_->since + timing().campaign_wait)) {
        park_.reset();
        return;
    }
    if (promise_.live(step.now)) return;
    const PendingRequest parked = *park_;
    park_.reset();
    on_coordinator(step, parked.from, parked.request);
}

void Core::serve_awaiting_disk(Step& step) {
    if (awaiting_disk_.empty() || persisting_) return;
    std::vector<PendingRequest> waiting;
    waiting.swap(awaiting_disk_);
    for (const PendingRequest& pending : waiting)
        on_coordinator(step, pending.from, pending.request);
}

void Core::on_resign(Step& step, const AcceptedSession& from, const Resign& resign) {
    Peer& peer = peers_[from.peer];
    const NodeId sender = id(from.peer);
    if (!learn_epoch(step.now, resign.epoch)) return;
    if (park_ && park_->from.peer == from.peer && park_->from.incarnation == from.incarnation &&
        park_->request.epoch == resign.epoch)
        park_.reset();
    std::erase_if(awaiting_disk_, [&](const PendingRequest& pending) {
        return pending.from.peer == from.peer && pending.request.epoch == resign.epoch;
    });
    if (peer.resigned_by != from.incarnation) peer.resigned_epoch = {};
    peer.resigned_by = from.incarnation;
    peer.resigned_epoch = std::max(peer.resigned_epoch, resign.epoch);
    if (peer.incarnation == from.incarnation) {
        peer.gone_epoch = std::max(peer.gone_epoch, resign.epoch);
        peer.gone_at = step.now;
        peer.gone_until = step.now + longest_promise_to(from.peer);
        if (peer.view.leader == sender && peer.view.epoch <= resign.epoch) peer.view = {};
    }
    const bool mine = promise_.release_resigned({sender, from.incarnation}, resign.epoch);
    if (mine && resign.successor)
        reservation_ = {resign.successor, step.now + timing().reservation()};
    if (resign.successor == config_.self && role_ == Role::follower && !promise_.live(step.now))
        call_ = Call::successor;
}

}  // namespace bullring::protocol
