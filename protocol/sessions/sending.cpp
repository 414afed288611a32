#include "protocol/sessions/sending.hpp"

namespace bullring::protocol {

Coordinator as_sent_to(const Parts& node, Index to, const Coordinator& request) {
    Coordinator sent = request;
    const bool knows = node.peers[to].tag == request.tag;
    const DialledSession* const session = node.sessions.dialled(node.peers[to].dialled);
    const std::uint16_t version = session == nullptr ? 0 : session->version;
    if (knows || version < version_with_tags) sent.members.reset();
    const bool has_id = request.identity && request.identity->known() &&
                        request.identity->known() == node.peers[to].cluster_id;
    // C12.2: a list goes with the id of its cluster.
    if (sent.members && sent.identity && !sent.identity->id) sent.identity = node.identity();
    const bool without = !sent.members && (has_id || !request.renew);
    if (without || version < version_with_identity) sent.identity.reset();
    return sent;
}

bool can_send_to_all(const Parts& node, MemberSet members) {
    for (const Index i : members)
        if (!can_send(node, i)) return false;
    return true;
}

}  // namespace bullring::protocol
