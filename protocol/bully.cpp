#include "protocol/bully.hpp"

namespace bullring::protocol {

void Bully::become_idle() {
    phase_ = Phase::idle;
    asked_ = {};
    until_ = never;
}

void Bully::carry(Core& core, Step& step, const Coordinator& request) {
    core.broadcast(step, request);
}

void Bully::stand(Core& core, Step& step) {
    become_idle();
    if (const auto request = core.campaign(step)) carry(core, step, *request);
}

// §7.1
void Bully::start(Core& core, Step& step, const char* reason) {
    wants_to_start_ = false;
    core.say_election_started(step, reason);
    const MemberSet higher = core.connected_higher(step.now);
    if (higher.empty()) return stand(core, step);
    phase_ = Phase::polling;
    ++attempt_;
    asked_ = higher;
    until_ = step.now + core.timing().poll_wait;
    for (Index i = 0; i < core.size(); ++i)
        if (higher.contains(i)) core.send(step, i, Election{attempt_});
}

// §7.2
void Bully::on_election(Core& core, Step& step, Index from, const Election& message) {
    const LeaderView leader = core.first_hand(step.now);
    if (leader.leader && leader.leader != core.id(from)) {
        core.send(step, from,
                  LeaderIs{message.attempt, leader.leader, leader.epoch,
                           core.textbook() ? core.timing().suspect_after
                                           : promise_left(step.now, leader.until)});
        return;
    }
    const bool stands = !core.second_hand(step.now).leader && core.quorum_connected(step.now) &&
                        core.eligible(step.now) && !core.silent(step.now);
    if (!stands) return core.send(step, from, Decline{message.attempt});
    core.send(step, from, Ok{message.attempt});
    wants_to_start_ = true;
}

// §7.3
void Bully::on_ok(Core& core, Step& step, Index from, const Ok& message) {
    if (phase_ != Phase::polling || message.attempt != attempt_ || !asked_.contains(from)) return;
    if (!due(step.now, ignored_until_[from])) return;
    phase_ = Phase::deferring;
    deferred_to_ = from;
    asked_ = {};
    until_ = step.now + core.timing().coordinator_wait;
}

void Bully::on_decline(Core& core, Step& step, Index from, const Decline& message) {
    if (phase_ != Phase::polling || message.attempt != attempt_ || !asked_.contains(from)) return;
    asked_.erase(from);
    if (asked_.empty()) stand(core, step);
}

void Bully::on_leader_is(Core& core, Step& step, Index from, const LeaderIs& message) {
    const bool believed = core.learn_epoch(step.now, message.epoch);
    if (phase_ != Phase::polling || message.attempt != attempt_ || !asked_.contains(from)) return;
    if (message.leader == core.config().self || !believed ||
        core.known_gone(message.leader, message.epoch, step.now))
        return on_decline(core, step, from, Decline{message.attempt});
    if (core.textbook()) {
        // Only a leader's own word counts there (§10). This node may never hear it, and would ask
        // again as fast as the network lets it.
        core.retry_not_before(step.now + core.timing().coordinator_wait);
        return become_idle();
    }
    core.adopt_view(step, from,
                    {message.leader, message.epoch, step.now + message.remaining, false});
    become_idle();
}

void Bully::advance(Core& core, Step& step) {
    if (core.role() != Role::follower) {
        become_idle();
        wants_to_start_ = false;
    }
    if (core.answer_call(step)) return stand(core, step);
    if (core.called()) return;
    if (core.leader_known(step.now) && phase_ != Phase::idle) {
        const LeaderView leader = core.first_hand(step.now);
        // A promise to a candidate does not end the wait for a renewal: the candidate may fail.
        if (phase_ == Phase::polling || leader.announced || !leader.leader) {
            if (phase_ == Phase::deferring) fruitless_[deferred_to_] = 0;
            become_idle();
        }
    }
    if (phase_ == Phase::polling && due(step.now, until_)) {
        if (core.may_campaign(step.now))
            stand(core, step);
        else
            become_idle();
    }
    if (phase_ == Phase::deferring) {
        const bool gone = !core.heard(deferred_to_, step.now);
        if (gone) become_idle();
        if (!gone && due(step.now, until_)) {
            if (++fruitless_[deferred_to_] >= 2) {
                ignored_until_[deferred_to_] = step.now + core.timing().lease;
                fruitless_[deferred_to_] = 0;
            }
            become_idle();
        }
    }
    if (phase_ == Phase::idle && core.may_start(step.now))
        start(core, step, wants_to_start_ ? "a lower node asked" : "no leader is known");
}

void Bully::collect_wakes(WakeTime& wake) const {
    wake.timer(until_);
    for (const Instant at : ignored_until_) wake.timer(at);
}

}  // namespace bullring::protocol
