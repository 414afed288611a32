#include "protocol/membership/callers.hpp"

#include <algorithm>
#include <vector>

namespace bullring::protocol {

namespace {

std::string address_of(const Parts& node, Index i) {
    return node.setup.members().find(node.id(i))->address;
}

}  // namespace

// R9.3: a stranger's word on its lease makes nothing durable: its requests are refused, too.
Duration expected_promise(const Parts& node, Index i) {
    const Peer& peer = node.peers[i];
    const Duration lease = peer.introduction.lease;
    return node.is_same_run(i) && lease <= node.timing().lease_max ? node.timing().promise(lease)
                                                                   : Duration{0};
}

void note_run_of(Parts& node, Step& step, Index i) {
    if (!node.fenced()) return;
    node.reserve.want({}, expected_promise(node, i));
    const DirectoryId directory = node.peers[i].directory;
    if (node.is_same_run(i) && directory)
        node.reserve.want_met(MetDirectory{node.id(i), address_of(node, i), directory}, step.now);
}

// C13.1: the word of another process with its id counts for nothing, wherever it is. A member
// without a vote makes no majority.
bool may_be_dialled_where_it_calls(const Parts& node, Index i) {
    if (!node.fenced()) return false;
    if (!node.deciding().voters().contains(i)) return true;
    const MetDirectory called{node.id(i), address_of(node, i), node.peers[i].directory};
    const std::vector<MetDirectory>& met = node.reserve.met();
    return called.directory && std::find(met.begin(), met.end(), called) != met.end();
}

namespace {

bool says_it_is_at(const Parts& node, Index i, const std::string& address) {
    if (i != node.me()) return node.peers[i].introduction.calls_from == address;
    for (const Index peer : node.setup.others())
        if (node.peers[peer].has_ack &&
            calls_from(node.config().listens, node.peers[peer].ack.addresses.remote) == address)
            return true;
    return false;
}

bool is_reached(const Parts& node, Instant now, Index i) {
    if (i == node.me()) return says_it_is_at(node, i, address_of(node, i));
    const DialledSession* const session = node.sessions.dialled(node.peers[i].dialled);
    return session != nullptr && !session->elsewhere && node.is_same_run(i) &&
           node.peers.connected(i, now);
}

}  // namespace

bool calls_from_there(const Parts& node, const MemberChange& change) {
    const auto i = node.setup.members().index(change.id);
    return i && says_it_is_at(node, *i, change.address);
}

MemberSet reached_at_their_addresses(const Parts& node, Instant now) {
    MemberSet reached;
    for (const Index i : node.setup.members().all())
        if (is_reached(node, now, i)) reached.insert(i);
    return reached;
}

}  // namespace bullring::protocol
