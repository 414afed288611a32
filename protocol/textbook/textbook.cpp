#include "protocol/textbook/textbook.hpp"

#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/leaders.hpp"
#include "protocol/tenure/standing.hpp"
#include "protocol/tenure/step_down.hpp"

namespace bullring::protocol::textbook {

namespace {

Coordinator announcement(const Parts& node, Instant now) {
    return {.epoch = node.epoch(),
            .lease = node.timing().lease,
            .stamp = now,
            .renew = true,
            .tie = false};
}

}  // namespace

std::optional<Coordinator> campaign(Parts& node, Step& step) {
    if (!may_campaign(node, step.now)) return std::nullopt;
    node.max_seen = node.max_seen + 1;
    node.tenure.become_candidate(step, node.max_seen);
    become_leader(node, step);
    return announcement(node, step.now);
}

void on_announcement(Parts& node, Instant now, Index leader, Epoch epoch) {
    if (!node.learn_epoch(now, epoch) || leader == node.me()) return;
    node.peers[leader].view = {node.id(leader), epoch, never, true};
    note_other_leads(node);
}

void greet(Parts& node, Step& step, Index i) {
    if (node.tenure.leads()) send(node, step, i, announcement(node, step.now));
}

void advance(Parts& node, Step& step) {
    if (!node.tenure.leads()) return;
    for (const Index i : node.peers.heard(step.now))
        if (node.peers[i].view.leader == node.id(i) && node.peers.rank(i) > node.own_rank())
            return step_down(node, step, DeposedReason::higher_rank, nobody);
}

}  // namespace bullring::protocol::textbook
