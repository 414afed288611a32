// Messages to other members, each on the session that this node has dialled there (PROTOCOL §3).
#pragma once

#include <type_traits>

#include "protocol/parts.hpp"

namespace bullring::protocol {

inline bool can_send(const Parts& node, Index to) {
    return node.setup.others().contains(to) && node.peers[to].dialled;
}
bool can_send_to_all(const Parts& node, MemberSet members);

/// C1.1: without the list, if that peer has it.
Coordinator as_sent_to(const Parts& node, Index to, const Coordinator& request);

template <class M>
void send(const Parts& node, Step& step, Index to, const M& message) {
    if (!can_send(node, to)) return;
    if constexpr (std::is_same_v<M, Coordinator>)
        step.act(Send{node.peers[to].dialled, as_sent_to(node, to, message)});
    else
        step.act(Send{node.peers[to].dialled, message});
}

template <class M>
void broadcast(const Parts& node, Step& step, const M& message) {
    for (const Index i : node.setup.others()) send(node, step, i, message);
}

}  // namespace bullring::protocol
