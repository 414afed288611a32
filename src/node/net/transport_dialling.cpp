// Which members a node dials, and the sessions that come of it.
#include <iterator>
#include <utility>

#include "src/base/os/descriptors.hpp"
#include "src/base/os/tcp.hpp"
#include "src/node/net/transport.hpp"

namespace bullring {

using protocol::NodeId;

void Transport::start_dialling() { dialler_.start(); }

void Transport::dial_now(NodeId peer, const std::string& calls_from) {
    dialler_.note_call(peer, calls_from);
    dialler_.dial_now(peer);
}

void Transport::follow(PeerList peers, const protocol::Membership& members) {
    options_.peers = std::move(peers);
    options_.members = members;
    dialler_.follow(options_.peers);
}

void Transport::on_connected(Dial dial, OwnedFd fd) {
    if (is_cut()) return dialler_.on_session_over(dial, false);  // never said anything
    OwnedFd placed = closed_in_order(std::move(fd), closing_order(dial.peer));
    if (!handshakes_ || plain_next_.erase(dial.peer) > 0)
        return dialled_session(dial, std::move(placed), nullptr);
    tcp::set_options(placed.get(), options_.unacknowledged_max);
    handshakes_->dial(dial, std::move(placed), options_.security);
}

/// Should this node die as the leader, the end of the sessions that it has dialled is what it tells
/// the others by (PROTOCOL R4): first those that elect, and of the others first the highest, which
/// is likely to follow it.
std::size_t Transport::closing_order(NodeId peer) const {
    const auto position = std::distance(options_.peers.begin(), options_.peers.find(peer));
    const protocol::MemberEntry* const member = options_.members.find(peer);
    const bool elects = member == nullptr || member->votes;  // of no list: one that it joins by
    return static_cast<std::size_t>(position) + (elects ? protocol::members_max : 0);
}

void Transport::dialled_session(Dial dial, OwnedFd fd, std::unique_ptr<TlsConnection> connection) {
    Entry& entry =
        add(Side::dialled, std::move(fd), std::move(connection), options_.outbox_bytes_max);
    entry.dial = dial;
    entry.peer.id = dial.peer;
    handler_.on_event(
        protocol::Dialled{dial.peer, entry.session->id(), entry.addresses, dial.elsewhere});
}

std::vector<std::pair<NodeId, protocol::Duration>> Transport::round_trips() const {
    std::vector<std::pair<NodeId, protocol::Duration>> trips;
    for (const auto& [id, entry] : sessions_) {
        if (entry.side != Side::dialled || entry.phase != Phase::established || entry.given_up)
            continue;
        trips.emplace_back(entry.peer.id, tcp::round_trip(entry.session->descriptor()));
    }
    return trips;
}

}  // namespace bullring
