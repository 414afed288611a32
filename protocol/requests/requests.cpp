#include "protocol/requests/requests.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/lease/campaign.hpp"
#include "protocol/tenure/standing.hpp"
#include "protocol/tenure/step_down.hpp"
#include "protocol/tenure/successors.hpp"

namespace bullring::protocol {

void on_resign_requested(Parts& node, Step& step, const ResignRequested& event) {
    ResignAnswer refusal{event.request, false, {}, false};
    NodeId successor = event.to;
    if (!node.tenure.leads()) {
        refusal.why = "node " + std::to_string(node.setup.self().value) + " does not lead";
    } else if (successor) {
        if (const auto why = unfit_by_wish(node, successor, step.now)) {
            refusal.why = text(*why, successor);
            refusal.lasting = *why <= Unfit::never_leads;
        }
    } else {
        successor = best_successor(node, step.now);
        if (successor && unfit_by_wish(node, successor, step.now)) successor = nobody;
        refusal.lasting = true;
        bool nobody_asks = false;
        for (const Index i : node.setup.others()) {
            const auto why = unfit_by_wish(node, node.id(i), step.now);
            if (!why || *why > Unfit::never_leads) refusal.lasting = false;
            nobody_asks = nobody_asks || why == Unfit::no_work;
        }
        if (!successor && !event.regardless)
            refusal.why = refusal.lasting ? "no successor: no other member ever leads"
                          : nobody_asks
                              ? "no successor: no process on another node asks for the leadership"
                              : "no successor: no other eligible node is connected to a majority";
    }
    // R5.12
    if (!refusal.why.empty()) {
        if (event.request.asker != Asker::none) step.act(std::move(refusal));
        return;
    }
    node.reported.answer_when_replaced(event.request, node.epoch());
    node.gate.be_modest(step.now, node.timing());  // R5.13
    step_down(node, step, DeposedReason::resigned, successor);
}

void on_resign(Parts& node, Step& step, const AcceptedSession& from, const Resign& resign) {
    if (!node.learn_epoch(step.now, resign.epoch)) return;
    Peer& peer = node.peers[from.peer];
    const NodeId sender = node.id(from.peer);
    if (peer.resigned_by != from.incarnation) peer.resigned_epoch = {};
    peer.resigned_by = from.incarnation;
    peer.resigned_epoch = std::max(peer.resigned_epoch, resign.epoch);
    if (peer.incarnation == from.incarnation) {
        node.peers.note_gone(from.peer, std::max(peer.gone_epoch, resign.epoch), step.now);
        if (peer.view.leader == sender && peer.view.epoch <= resign.epoch) peer.view = {};
    }
    // R5.10: no reservation but where the promise was to that leadership.
    const bool promised = node.voter.on_resigned(from, {sender, from.incarnation}, resign.epoch);
    if (promised && resign.successor)
        node.gate.reserve(resign.successor, step.now + node.timing().reservation());
    // R5.14
    if (resign.successor == node.setup.self() && node.tenure.follows() && !bound(node, step.now))
        node.election_timer.call(Call::successor);
}

void on_stalled(Parts& node, Step& step) {
    step_down(node, step, DeposedReason::stalled, best_successor(node, step.now));
}

void on_health_changed(Parts& node, Step& step, const HealthChanged& event) {
    if (event.healthy == node.gate.healthy()) return;
    if (event.healthy) return node.gate.recovers(step.now, node.timing().preempt_delay);
    node.gate.falls_ill();
    abandon(node, step, Duration{0});
    step_down(node, step, DeposedReason::unhealthy, best_successor(node, step.now));
}

void on_standing(Parts& node, Step& step, const Standing& event) {
    node.gate.set_willing(event.willing);
    if (!event.willing) abandon(node, step, Duration{0});
}

void on_stop(Parts& node, Step& step) {
    if (node.gate.stopping()) return;
    node.gate.stop();
    abandon(node, step, Duration{0});
    step_down(node, step, DeposedReason::stopped, best_successor(node, step.now));
}

}  // namespace bullring::protocol
