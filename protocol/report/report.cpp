#include "protocol/report/report.hpp"

#include <algorithm>

#include "protocol/recovery/keeping.hpp"
#include "protocol/sessions/ends.hpp"
#include "protocol/tenure/leaders.hpp"
#include "protocol/tenure/step_down.hpp"

namespace bullring::protocol {

void report_stop(Parts& node, Step& step) {
    if (!node.leaving() || node.stopped || !all_written(node)) return;
    node.stopped = true;
    step.act(Stopped{});
}

namespace {

void report_version(Parts& node, Step& step, Index i) {
    const std::uint16_t version = node.version_with(i);
    const bool older = version < node.config().wire_highest;
    if (node.peers[i].told_older == older) return;
    node.peers[i].told_older = older;
    if (older) {
        step.act(Note{Note::Level::info, node.id(i),
                      "peer " + std::to_string(node.id(i).value) + " speaks version " +
                          std::to_string(version) + " of the wire format at most, this node " +
                          std::to_string(node.config().wire_highest)});
        return;
    }
    for (const Index other : node.setup.others())
        if (node.peers[other].told_older) return;
    step.act(Note{Note::Level::info, nobody,
                  "version " + std::to_string(version) +
                      " of the wire format is spoken with all peers again"});
}

PeerDownReason down_reason(const Parts& node, Index i, Instant now) {
    const Peer& peer = node.peers[i];
    if (!peer.accepted) return peer.last_end;
    return peer.refused && node.peers.heard(i, now) ? PeerDownReason::refused
                                                    : PeerDownReason::timeout;
}

}  // namespace

void report_peers(Parts& node, Step& step) {
    for (const Index i : node.setup.others()) {
        Peer& peer = node.peers[i];
        const bool up = node.peers.connected(i, step.now);
        if (up == peer.up) continue;
        peer.up = up;
        peer.up_since = step.now;
        if (up)
            step.act(PeerUp{node.id(i)});
        else
            step.act(PeerDown{node.id(i), down_reason(node, i, step.now)});
        if (up) report_version(node, step, i);
    }
}

LeaderView user_leader(const Parts& node, Instant now) {
    if (node.tenure.leads() && node.tenure.published())
        return {node.setup.self(), node.epoch(), node.lease_end(), true};
    LeaderView best = second_hand(node, now);
    if (!best.announced) best = {};
    const LeaderView own = first_hand(node, now);
    if (own.announced && own.leader != node.setup.self() && own.epoch >= best.epoch) best = own;
    if (!best.leader) return {};
    const auto index = node.setup.members().index(best.leader);
    if (!index) return {};
    // A leader that is stepping down still binds voters, but does not act as the leader any more.
    const Peer& leader = node.peers[*index];
    if (leader.has_heartbeat && leader.heartbeat.stepping_down && node.peers.heard(*index, now))
        return {};
    return best;
}

std::string_view advertised_by(const Parts& node, NodeId leader) {
    const auto index = node.setup.members().index(leader);
    if (!index) return {};
    const bool own = *index == node.me();
    // H1.5
    const std::string& by_client =
        own ? node.gate.advertised() : node.peers[*index].heartbeat.advertised;
    if (!by_client.empty()) return by_client;
    return own ? node.config().advertised : node.peers[*index].introduction.advertised;
}

namespace {

/// Its own lease, or, while this node does not hear it, that others do. Their word may be as old as
/// the silence that is allowed, and of a leader that falls silent to all some hear a little more
/// than others: it counts only when it shows that the leader has outlived the silence here.
void note_signs_of(Parts& node, const LeaderView& leader, Instant now) {
    const auto i = node.setup.members().index(leader.leader);
    if (!i) return;
    if (*i == node.me()) return node.reported.note_sign(leader.until);
    if (node.peers.heard(*i, now)) return;
    const Instant shown_from = node.peers[*i].heard_at + node.peers.silence_allowed(*i) * 2;
    for (const Index other : node.peers.heard(now)) {
        const Peer& peer = node.peers[other];
        if (peer.view.leader == leader.leader && peer.has_heartbeat &&
            peer.heartbeat.heard.contains(*i) && due(peer.heartbeat_at, shown_from))
            node.reported.note_sign(peer.heartbeat_at);
    }
}

Instant led_until(const Parts& node, Instant now) {
    const NodeId leader = node.reported.leader();
    const auto i = node.setup.members().index(leader);
    if (!i) return now;
    if (*i == node.me()) return earlier(now, node.reported.sign_at());
    if (has_ended(node, leader)) return node.reported.sign_at();
    // It leads no more by its own word, or has lived to see the next one.
    if (node.peers.heard(*i, now)) return now;
    return later(node.peers[*i].heard_at, node.reported.sign_at());
}

}  // namespace

void report_leader(Parts& node, Step& step) {
    LeaderView leader = user_leader(node, step.now);
    // Epochs are reported in order: a word from before is not news.
    if (node.fenced() && leader.leader && leader.epoch < node.reported.epoch()) leader = {};
    if (!node.reported.is(leader)) {
        forget_hold_off(node, step.now);
        const bool after_end = leader.leader && has_ended(node, node.reported.last());
        node.reported.tell(step, leader, std::string(advertised_by(node, leader.leader)), after_end,
                           led_until(node, step.now));
    } else if (leader.leader) {
        node.reported.tell_place(step, advertised_by(node, leader.leader));
    }
    note_signs_of(node, leader, step.now);
}

}  // namespace bullring::protocol
