// What others are told when something has changed: peers by heartbeat, users by announcements.
#include <algorithm>

#include "protocol/member/member.hpp"

namespace bullring::protocol {

void Member::report(Step& step) {
    report_peers(step);
    report_leader(step);
    told_.answer_resign(step, setup_.self());
    send_heartbeats(step);
    settle(step);
    report_stop(step);
}

void Member::report_stop(Step& step) {
    if (!leaving() || stopped_ || !all_written()) return;
    stopped_ = true;
    step.act(Stopped{});
}

void Member::report_peers(Step& step) {
    for (const Index i : setup_.others()) {
        Peer& peer = peers_[i];
        const bool up = peers_.connected(i, step.now);
        if (up == peer.up) continue;
        peer.up = up;
        peer.up_since = step.now;
        if (up)
            step.act(PeerUp{id(i)});
        else
            step.act(PeerDown{id(i), down_reason(i, step.now)});
    }
}

PeerDownReason Member::down_reason(Index i, Instant now) const {
    const Peer& peer = peers_[i];
    if (!peer.accepted) return peer.last_end;
    return peer.refused && peers_.heard(i, now) ? PeerDownReason::refused : PeerDownReason::timeout;
}

LeaderView Member::user_leader(Instant now) const {
    if (tenure_.leads() && tenure_.published()) return {setup_.self(), epoch(), lease_end(), true};
    LeaderView best = second_hand(now);
    if (!best.announced) best = {};
    const LeaderView own = first_hand(now);
    if (own.announced && own.leader != setup_.self() && own.epoch >= best.epoch) best = own;
    if (!best.leader) return {};
    const auto index = setup_.members().index(best.leader);
    if (!index) return {};
    // Who is stepping down still binds voters, but does not act as the leader any more.
    const Peer& leader = peers_[*index];
    if (leader.has_heartbeat && leader.heartbeat.stepping_down && peers_.heard(*index, now))
        return {};
    return best;
}

std::string Member::advertised_by(NodeId leader) const {
    if (leader == setup_.self()) return config().advertised;
    const auto index = setup_.members().index(leader);
    return index ? peers_[*index].introduction.advertised : std::string();
}

void Member::report_leader(Step& step) {
    LeaderView leader = user_leader(step.now);
    // Epochs are told in order: a word from before is not news.
    if (fenced() && leader.leader && leader.epoch < told_.epoch()) leader = {};
    if (told_.is(leader)) return;
    forget_hold_off(step.now);
    told_.tell(step, leader, advertised_by(leader.leader));
}

HeartbeatState Member::heartbeat_state(Instant now) const {
    const LeaderView leader = first_hand(now);
    HeartbeatState state;
    // With quorum none nobody vouches for others.
    if (fenced()) state.heard = peers_.heard(now);
    state.quorum_connected = quorum_connected(now);
    state.eligible = eligible(now);
    state.recovering = silent(now) || leaving();
    state.announced = leader.announced;
    state.stepping_down = role() == Role::stepping_down;
    state.leader = leader.leader;
    state.epoch = leader.epoch;
    return state;
}

Heartbeat Member::heartbeat(Instant now) const {
    const HeartbeatState state = heartbeat_state(now);
    Heartbeat heartbeat;
    heartbeat.heard = peers_.heard(now);
    heartbeat.quorum_connected = state.quorum_connected && !state.recovering;
    heartbeat.eligible = state.eligible;
    heartbeat.recovering = state.recovering;
    heartbeat.stepping_down = state.stepping_down;
    if (const LeaderView leader = told_to_peers(now); leader.leader) {
        heartbeat.leader = leader.leader;
        heartbeat.leader_epoch = leader.epoch;
        heartbeat.leader_announced = leader.announced;
        heartbeat.leader_remaining = view_left(now, leader);
    }
    heartbeat.max_seen = max_seen_;
    heartbeat.quorum_age = reported_quorum_age(now);
    return heartbeat;
}

Duration Member::reported_quorum_age(Instant now) const {
    if (quorum_since_ == never || gate_.modest(now)) return Duration{0};
    return std::max(elapsed(quorum_since_, now), Duration{1});
}

void Member::send_heartbeats(Step& step) {
    const Instant now = step.now;
    const HeartbeatState state = heartbeat_state(now);
    switch (heartbeat_clock_.due_now(now, state, timing(), peers_.all_vouched_for(now))) {
        case HeartbeatClock::Due::none: return;
        case HeartbeatClock::Due::changed:
            heartbeat_clock_.told_change(now, state, timing());
            return broadcast(step, heartbeat(now));
        case HeartbeatClock::Due::periodic:
            heartbeat_clock_.told_all(now, state, timing());
            return broadcast(step, heartbeat(now));
        case HeartbeatClock::Due::all_but_leader: break;
    }
    heartbeat_clock_.told_all_but_leader(now);
    const Heartbeat told = heartbeat(now);
    for (const Index i : setup_.others())
        if (i != peers_.voucher()) send(step, i, told);
}

}  // namespace bullring::protocol
