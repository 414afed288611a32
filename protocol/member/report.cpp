// Reports changes to others: to peers by heartbeat, to users by announcements.
#include <algorithm>

#include "protocol/member/member.hpp"

namespace bullring::protocol {

void Member::report(Step& step) {
    report_peers(step);
    report_leader(step);
    reported_.answer_resign(step, setup_.self());
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
        if (up) report_version(step, i);
    }
}

void Member::report_version(Step& step, Index i) {
    const std::uint16_t version = version_with(i);
    const bool older = version < config().wire_highest;
    if (peers_[i].told_older == older) return;
    peers_[i].told_older = older;
    if (older) {
        step.act(Note{Note::Level::info, id(i),
                      "peer " + std::to_string(id(i).value) + " speaks version " +
                          std::to_string(version) + " of the wire format at most, this node " +
                          std::to_string(config().wire_highest)});
        return;
    }
    for (const Index other : setup_.others())
        if (peers_[other].told_older) return;
    step.act(Note{Note::Level::info, nobody,
                  "version " + std::to_string(version) +
                      " of the wire format is spoken with all peers again"});
}

/// The lower one while the sessions of two runs of it are there.
std::uint16_t Member::version_with(Index i) const {
    const DialledSession* const dialled = sessions_.dialled(peers_[i].dialled);
    const AcceptedSession* const accepted = sessions_.accepted(peers_[i].accepted);
    if (dialled == nullptr) return accepted == nullptr ? std::uint16_t{0} : accepted->version;
    return accepted == nullptr ? dialled->version : std::min(dialled->version, accepted->version);
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
    // A leader that is stepping down still binds voters, but does not act as the leader any more.
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
    // Epochs are reported in order: a word from before is not news.
    if (fenced() && leader.leader && leader.epoch < reported_.epoch()) leader = {};
    if (!reported_.is(leader)) {
        forget_hold_off(step.now);
        const bool after_end = leader.leader && has_ended(reported_.last());
        reported_.tell(step, leader, advertised_by(leader.leader), after_end, led_until(step.now));
    }
    note_signs_of(leader, step.now);
}

/// The process of that node, the last leader, as far as is known here; one that was started anew
/// has ended, too.
bool Member::has_ended(NodeId node) const {
    const auto i = setup_.members().index(node);
    if (!i || *i == me() || !reported_.has_ended()) return false;
    return !peers_[*i].accepted || peers_[*i].incarnation != reported_.ended_run();
}

/// Its own lease, or, while this node does not hear it, that others do. Their word may be as old as
/// the silence that is allowed, and of a leader that falls silent to all some hear a little more
/// than others: it counts only when it shows that the leader has outlived the silence here.
void Member::note_signs_of(const LeaderView& leader, Instant now) {
    const auto i = setup_.members().index(leader.leader);
    if (!i) return;
    if (*i == me()) return reported_.note_sign(leader.until);
    if (peers_.heard(*i, now)) return;
    const Instant shown_from = peers_[*i].heard_at + peers_.silence_allowed(*i) * 2;
    for (const Index other : peers_.heard(now)) {
        const Peer& peer = peers_[other];
        if (peer.view.leader == leader.leader && peer.has_heartbeat &&
            peer.heartbeat.heard.contains(*i) && due(peer.heartbeat_at, shown_from))
            reported_.note_sign(peer.heartbeat_at);
    }
}

Instant Member::led_until(Instant now) const {
    const NodeId leader = reported_.leader();
    const auto i = setup_.members().index(leader);
    if (!i) return now;
    if (*i == me()) return earlier(now, reported_.sign_at());
    if (has_ended(leader)) return reported_.sign_at();
    // It leads no more by its own word, or has lived to see the next one.
    if (peers_.heard(*i, now)) return now;
    return later(peers_[*i].heard_at, reported_.sign_at());
}

HeartbeatState Member::heartbeat_state(Instant now) const {
    const LeaderView leader = first_hand(now);
    HeartbeatState state;
    // With quorum none nobody vouches for others.
    if (fenced()) state.heard = peers_.heard(now);
    // A leader hands over to those only that can be elected, or it would do so in vain for ever.
    state.quorum_connected = majority_votes(now);
    state.eligible = eligible(now);
    state.recovering = silent(now) || leaving() || removed();
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
    const bool stands_anew = heartbeat_clock_.stands_anew(state);
    switch (heartbeat_clock_.due_now(now, state, timing(), peers_.all_vouched_for(now),
                                     change_told_within())) {
        case HeartbeatClock::Due::none: return;
        case HeartbeatClock::Due::changed: {
            const MemberSet to = told_of_change(stands_anew);
            heartbeat_clock_.told_change(now, state, timing(), to == setup_.others());
            return tell_heartbeat(step, to);
        }
        case HeartbeatClock::Due::periodic:
            heartbeat_clock_.told_all(now, state, timing());
            return tell_heartbeat(step, stands_anew ? setup_.others() : told_in_time(now));
        case HeartbeatClock::Due::all_but_leader: break;
    }
    heartbeat_clock_.told_all_but_leader(now);
    MemberSet to = told_in_time(now);
    if (const auto leader = peers_.voucher()) to.erase(*leader);
    tell_heartbeat(step, to);
}

/// When a leader is lost, all have the same to report, and those who elect are at work.
Duration Member::change_told_within() const {
    const bool few_tell =
        votes() && Timing::periods_of_voters(setup_.members().voters().size()) == 1;
    return tenure_.leads() || few_tell ? timing().stagger : timing().heartbeat;
}

void Member::tell_heartbeat(Step& step, MemberSet to) const {
    const Heartbeat told = heartbeat(step.now);
    for (const Index i : to) send(step, i, told);
}

/// Whether it may stand, all want to know at once; the rest those only who elect, or who lead.
MemberSet Member::told_of_change(bool stands_anew) const {
    if (stands_anew) return setup_.others();
    MemberSet to = setup_.members().voters();
    to.erase(me());
    if (const auto leader = peers_.voucher()) to.insert(*leader);
    return to;
}

/// All but distant ones whose time has not come.
MemberSet Member::told_in_time(Instant now) {
    MemberSet to;
    for (const Index i : setup_.others())
        if (!peers_.is_distant(i) || distant_due(now, i)) to.insert(i);
    return to;
}

/// Another heartbeat to a distant one is due. The first ones go out at times of their own, and so
/// do all later ones.
bool Member::distant_due(Instant now, Index i) {
    const Duration pace = timing().heartbeat * peers_.periods_between(i);
    Instant& told_at = peers_[i].told_at;
    const bool first = told_at == long_ago;
    if (!first && !due(now, told_at + (pace - timing().heartbeat / 2))) return false;
    told_at = first ? now - rng_.up_to(pace) : now;
    return true;
}

}  // namespace bullring::protocol
