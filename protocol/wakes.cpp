#include "protocol/wakes.hpp"

#include "protocol/membership/forgetting.hpp"
#include "protocol/tenure/step_down.hpp"

namespace bullring::protocol {

namespace {

void collect_recovery(const Parts& node, WakeTime& wake) {
    node.recovery.collect_wakes(wake, node.peers);
    wake.promise(node.changes.twin_over);
    if (node.recovering()) wake.promise(node.changes.founded_elsewhere);
    if (!node.recovery.over()) return;
    wake.timer(node.recovery.over_at() + node.timing().poll_wait);
    wake.timer(node.recovery.over_at() + node.timing().promise(node.timing().lease));
}

void collect_tenure(const Parts& node, WakeTime& wake) {
    switch (node.role()) {
        case Role::follower: return;
        case Role::candidate: return wake.timer(node.holder.candidate_until());
        case Role::leader:
            wake.lease(node.lease_end() - node.timing().kill_margin);
            collect_forgetting(node, wake);
            break;
        case Role::stepping_down:
            if (renews(node)) wake.timer(node.tenure.step_down().give_up_at);
            break;
    }
    wake.lease(node.lease_end());
    if (renews(node)) wake.timer(node.holder.next_renewal());
}

}  // namespace

void collect_wakes(const Parts& node, WakeTime& wake) {
    node.gate.collect_wakes(wake);
    node.election_timer.collect_wakes(wake);
    node.heartbeat_clock.collect_wakes(wake);
    node.peers.collect_wakes(wake);
    if (!node.fenced()) return wake.timer(node.setup.started() + node.timing().suspect_after);
    node.voter.collect_wakes(wake, node.timing().campaign_wait);
    collect_recovery(node, wake);
    for (const DialledSession& session : node.sessions.all_dialled())
        if (session.state == DialledState::lingering)
            wake.lease(node.holder.lease().tied_until(session.id));
    collect_tenure(node, wake);
}

}  // namespace bullring::protocol
