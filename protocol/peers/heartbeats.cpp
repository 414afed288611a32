#include "protocol/peers/heartbeats.hpp"

#include <algorithm>

#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/leaders.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

namespace {

HeartbeatState heartbeat_state(const Parts& node, Instant now) {
    const LeaderView leader = first_hand(node, now);
    HeartbeatState state;
    // With quorum none nobody vouches for others.
    if (node.fenced()) state.heard = node.peers.heard(now);
    // P1.3: a leader hands over to those only that can be elected, or it would do so in vain for
    // ever.
    state.quorum_connected = majority_votes(node, now);
    state.eligible = eligible(node, now);
    state.recovering = silent(node, now) || node.leaving() || node.removed();
    state.announced = leader.announced;
    state.stepping_down = node.role() == Role::stepping_down;
    state.work = node.gate.work();
    state.work_changes = node.gate.work_changes();
    state.leader = leader.leader;
    state.epoch = leader.epoch;
    return state;
}

Duration reported_quorum_age(const Parts& node, Instant now) {
    if (node.quorum_since == never || node.gate.modest(now)) return Duration{0};
    return std::max(elapsed(node.quorum_since, now), Duration{1});
}

}  // namespace

Heartbeat heartbeat(const Parts& node, Instant now) {
    const HeartbeatState state = heartbeat_state(node, now);
    Heartbeat heartbeat;
    heartbeat.heard = node.peers.heard(now);
    heartbeat.quorum_connected = state.quorum_connected && !state.recovering;
    heartbeat.eligible = state.eligible;
    heartbeat.recovering = state.recovering;
    heartbeat.stepping_down = state.stepping_down;
    heartbeat.work = state.work;
    heartbeat.advertised = node.gate.advertised();
    if (const LeaderView leader = told_to_peers(node, now); leader.leader) {
        heartbeat.leader = leader.leader;
        heartbeat.leader_epoch = leader.epoch;
        heartbeat.leader_announced = leader.announced;
        heartbeat.leader_remaining = view_left(node, now, leader);
    }
    heartbeat.max_seen = node.max_seen;
    heartbeat.quorum_age = reported_quorum_age(node, now);
    return heartbeat;
}

namespace {

/// When a leader is lost, all have the same to report, and those who elect are at work.
Duration change_told_within(const Parts& node) {
    const bool few_tell =
        node.votes() && Timing::periods_of_voters(node.setup.members().voters().size()) == 1;
    return node.tenure.leads() || few_tell ? node.timing().stagger : node.timing().heartbeat;
}

void tell_heartbeat(const Parts& node, Step& step, MemberSet to) {
    const Heartbeat told = heartbeat(node, step.now);
    for (const Index i : to) send(node, step, i, told);
}

/// Whether it may stand, all want to know at once; the rest those only who elect, or who lead.
MemberSet told_of_change(const Parts& node, bool stands_anew) {
    if (stands_anew) return node.setup.others();
    MemberSet to = node.setup.members().voters();
    to.erase(node.me());
    if (const auto leader = node.peers.voucher()) to.insert(*leader);
    return to;
}

/// Another heartbeat to a distant one is due. The first ones go out at times of their own, and so
/// do all later ones.
bool distant_due(Parts& node, Instant now, Index i) {
    const Duration pace = node.timing().heartbeat * node.peers.periods_between(i);
    Instant& told_at = node.peers[i].told_at;
    const bool first = told_at == long_ago;
    if (!first && !due(now, told_at + (pace - node.timing().heartbeat / 2))) return false;
    told_at = first ? now - node.rng.up_to(pace) : now;
    return true;
}

/// All but distant ones whose time has not come.
MemberSet told_in_time(Parts& node, Instant now) {
    MemberSet to;
    for (const Index i : node.setup.others())
        if (!node.peers.is_distant(i) || distant_due(node, now, i)) to.insert(i);
    return to;
}

}  // namespace

void send_heartbeats(Parts& node, Step& step) {
    const Instant now = step.now;
    const HeartbeatState state = heartbeat_state(node, now);
    const bool stands_anew = node.heartbeat_clock.stands_anew(state);
    switch (node.heartbeat_clock.due_now(now, state, node.timing(), node.peers.all_vouched_for(now),
                                         change_told_within(node))) {
        case HeartbeatClock::Due::none: return;
        case HeartbeatClock::Due::changed: {
            const MemberSet to = told_of_change(node, stands_anew);
            node.heartbeat_clock.told_change(now, state, node.timing(), to == node.setup.others());
            return tell_heartbeat(node, step, to);
        }
        case HeartbeatClock::Due::periodic:
            node.heartbeat_clock.told_all(now, state, node.timing());
            return tell_heartbeat(node, step,
                                  stands_anew ? node.setup.others() : told_in_time(node, now));
        case HeartbeatClock::Due::all_but_leader: break;
    }
    node.heartbeat_clock.told_all_but_leader(now);
    MemberSet to = told_in_time(node, now);
    if (const auto leader = node.peers.voucher()) to.erase(*leader);
    tell_heartbeat(node, step, to);
}

void heartbeat_told_by_renewal(Parts& node, Instant now) {
    node.heartbeat_clock.told_all(now, heartbeat_state(node, now), node.timing());
}

void heartbeat_told_by_grant(Parts& node, Instant now) {
    const Timing& timing = node.timing();
    const Duration pace = node.votes() ? timing.heartbeat : timing.followers_pace();
    node.heartbeat_clock.told_leader(now, pace + timing.heartbeat / 2);
}

}  // namespace bullring::protocol
