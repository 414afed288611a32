#include "protocol/selectors/bully.hpp"

#include "protocol/values/by_slot.hpp"

namespace bullring::protocol {

void Bully::become_idle() {
    phase_ = Phase::idle;
    asked_ = {};
    until_ = never;
}

void Bully::carry(MemberAccess& member, Step& step, const AddressedRequest& asked) {
    member.send(step, asked);
}

void Bully::stand(MemberAccess& member, Step& step) {
    become_idle();
    if (const auto asked = member.campaign(step)) carry(member, step, *asked);
}

// §7.1
void Bully::start(MemberAccess& member, Step& step, const char* reason) {
    wants_to_start_ = false;
    member.say_election_started(step, reason);
    const MemberSet higher = member.connected_higher(step.now);
    if (higher.empty()) return stand(member, step);
    phase_ = Phase::polling;
    ++attempt_;
    asked_ = higher;
    until_ = step.now + member.timing().poll_wait;
    for (const Index i : higher) member.send(step, i, Election{attempt_});
}

// §7.2, B2.1
void Bully::on_message(MemberAccess& member, Step& step, Index from, const Election& message) {
    const LeaderView leader = member.first_hand(step.now);
    if (leader.leader && leader.leader != member.id(from)) {
        member.send(step, from,
                    LeaderIs{message.attempt, leader.leader, leader.epoch,
                             member.view_left(step.now, leader)});
        return;
    }
    const bool stands = !member.second_hand(step.now).leader && member.quorum_connected(step.now) &&
                        member.eligible(step.now) && !member.silent(step.now);
    if (!stands) return member.send(step, from, Decline{message.attempt});
    member.send(step, from, Ok{message.attempt});
    wants_to_start_ = true;
}

// §7.3
void Bully::on_message(MemberAccess& member, Step& step, Index from, const Ok& message) {
    if (phase_ != Phase::polling || message.attempt != attempt_ || !asked_.contains(from)) return;
    if (!due(step.now, of_slot(ignored_until_, from, long_ago))) return;
    phase_ = Phase::deferring;
    deferred_to_ = from;
    asked_ = {};
    until_ = step.now + member.timing().coordinator_wait;
}

void Bully::on_message(MemberAccess& member, Step& step, Index from, const Decline& message) {
    if (phase_ != Phase::polling || message.attempt != attempt_ || !asked_.contains(from)) return;
    asked_.erase(from);
    if (asked_.empty()) stand(member, step);
}

void Bully::on_message(MemberAccess& member, Step& step, Index from, const LeaderIs& message) {
    const bool believed = member.learn_epoch(step.now, message.epoch);
    if (phase_ != Phase::polling || message.attempt != attempt_ || !asked_.contains(from)) return;
    if (message.leader == member.self() || !believed ||
        member.known_gone(message.leader, message.epoch, step.now))
        return on_message(member, step, from, Decline{message.attempt});
    member.adopt_view(step, from,
                      {message.leader, message.epoch, step.now + message.remaining, false});
    become_idle();
}

void Bully::advance(MemberAccess& member, Step& step) {
    if (member.role() != Role::follower) {
        become_idle();
        wants_to_start_ = false;
    }
    if (member.answer_call(step)) return stand(member, step);
    if (member.called()) return;
    const bool known = member.leader_known(step.now);
    if (known) wants_to_start_ = false;  // the next election has a reason of its own
    if (known && phase_ != Phase::idle) {
        const LeaderView leader = member.first_hand(step.now);
        // A promise to a candidate does not end the wait for a renewal: the candidate may fail.
        if (phase_ == Phase::polling || leader.announced || !leader.leader) {
            if (phase_ == Phase::deferring) at_slot(fruitless_, deferred_to_) = 0;
            become_idle();
        }
    }
    if (phase_ == Phase::polling && due(step.now, until_)) {
        if (member.may_campaign(step.now))
            stand(member, step);
        else
            become_idle();
    }
    if (phase_ == Phase::deferring) {
        const bool gone = !member.heard(deferred_to_, step.now);
        if (gone) become_idle();
        if (!gone && due(step.now, until_)) {
            std::uint8_t& fruitless = at_slot(fruitless_, deferred_to_);
            if (++fruitless >= 2) {  // B2.2
                at_slot(ignored_until_, deferred_to_, long_ago) = step.now + member.timing().lease;
                fruitless = 0;
            }
            become_idle();
        }
    }
    if (phase_ == Phase::idle && member.may_start(step.now))
        start(member, step, wants_to_start_ ? "a lower node asked" : "no leader is known");
}

void Bully::collect_wakes(WakeTime& wake) const {
    wake.timer(until_);
    for (const Instant at : ignored_until_) wake.timer(at);
}

}  // namespace bullring::protocol
