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

// C13.2
bool says_it_is_at(const Parts& node, NodeId member, const std::string& address) {
    const auto i = node.setup.members().index(member);
    if (!i) return false;
    if (*i != node.me()) return node.peers[*i].introduction.calls_from == address;
    for (const Index peer : node.setup.others())
        if (node.peers[peer].has_ack &&
            calls_from(node.config().listens, node.peers[peer].ack.addresses.remote) == address)
            return true;
    return false;
}

bool answers_at_its_address(const Parts& node, Instant now, NodeId member) {
    const auto i = node.setup.members().index(member);
    if (!i) return false;
    if (*i == node.me()) return says_it_is_at(node, member, address_of(node, *i));
    const DialledSession* const session = node.sessions.dialled(node.peers[*i].dialled);
    return session != nullptr && !session->elsewhere && node.is_same_run(*i) &&
           node.peers.connected(*i, now);
}

}  // namespace bullring::protocol
