#include "src/http/node_state.hpp"

namespace bullring {

bool AtTheMoment::follows() const {
    const protocol::View& view = node.status.view;
    if (leads() || !view.leader || view.leader == view.self) return false;
    return !view.fenced || node.lease_left(now).ns > 0;
}

protocol::NodeId AtTheMoment::leader() const {
    if (leads()) return node.status.view.self;
    return follows() ? node.status.view.leader : protocol::nobody;
}

std::string AtTheMoment::why() const {
    const protocol::View& view = node.status.view;
    // The node itself comes to know it with its next step.
    if (view.leader && !knows_leader() && node.sound)
        return "the lease of " + std::to_string(view.leader.value) + " is over";
    return view.why;
}

std::string AtTheMoment::advertised() const {
    const protocol::View& view = node.status.view;
    if (leads())
        return view.role == protocol::Role::leader ? view.advertised : node.status.advertised;
    return follows() ? view.advertised : "";
}

protocol::Duration AtTheMoment::lease_left() const {
    if (leads()) return protocol::lease_left(now, lease.deadline);
    return follows() ? node.lease_left(now) : protocol::Duration{0};
}

}  // namespace bullring
