#include "protocol/tenure/successors.hpp"

namespace bullring::protocol {

namespace {

/// The highest that could take over, of those whose heartbeat is taken.
template <class Taken>
NodeId best_of(const Parts& node, Instant now, Taken taken) {
    NodeId best = nobody;
    Rank best_rank;
    for (const Index i : node.setup.others()) {
        if (!taken(node.peers[i]) || unfit(node, node.id(i), now)) continue;
        if (best && node.peers.rank(i) < best_rank) continue;
        best = node.id(i);
        best_rank = node.peers.rank(i);
    }
    return best;
}

/// Or does not say.
NodeId best_with_work(const Parts& node, Instant now) {
    return best_of(node, now, [](const Peer& peer) { return peer.heartbeat.work != Work::none; });
}

}  // namespace

// R5.8, R5.17
NodeId best_successor(const Parts& node, Instant now) {
    if (const NodeId best = best_with_work(node, now)) return best;
    return best_of(node, now, [](const Peer&) { return true; });
}

NodeId best_asked(const Parts& node, Instant now) {
    return best_of(node, now, [&](const Peer& peer) {
        return peer.heartbeat.work == Work::asked && due(now, peer.hand_over_not_before);
    });
}

NodeId successor_of_ended(const Parts& node, Instant now) {
    if (node.gate.work() == Work::asked && !best_with_work(node, now)) return node.setup.self();
    return best_successor(node, now);
}

std::optional<Unfit> unfit(const Parts& node, NodeId to, Instant now) {
    const auto index = node.setup.members().index(to);
    if (!index) return Unfit::stranger;
    if (*index == node.me()) return Unfit::leader_itself;
    if (!node.peers.connected(*index, now)) return Unfit::not_connected;
    // One that is away may come back with another priority.
    if (node.peers[*index].introduction.priority.is_never()) return Unfit::never_leads;
    const Heartbeat& last = node.peers[*index].heartbeat;
    if (last.recovering) return Unfit::silent;
    if (!last.eligible) return last.work == Work::none ? Unfit::no_work : Unfit::not_standing;
    if (!last.quorum_connected) return Unfit::no_majority;
    return std::nullopt;
}

// R5.12
std::optional<Unfit> unfit_by_wish(const Parts& node, NodeId to, Instant now) {
    if (const auto why = unfit(node, to, now)) return why;
    const Heartbeat& last = node.peers[*node.setup.members().index(to)].heartbeat;
    if (node.gate.work() == Work::asked && last.work == Work::none) return Unfit::no_work;
    return std::nullopt;
}

std::string text(Unfit unfit, NodeId of) {
    std::string name = "node " + std::to_string(of.value);
    switch (unfit) {
        case Unfit::stranger: return name + " is not a member";
        case Unfit::leader_itself: return name + " is the leader itself";
        case Unfit::never_leads: return name + " is a voter that never leads (priority never)";
        case Unfit::not_connected: return name + " is not connected";
        case Unfit::silent: return name + " is silent after a restart";
        case Unfit::no_work:
            return "no process on " + name + " asks for the leadership, and one here does";
        case Unfit::not_standing: return name + " does not stand at the moment";
        case Unfit::no_majority: return name + " is not connected to a majority";
    }
    return name;
}

}  // namespace bullring::protocol
