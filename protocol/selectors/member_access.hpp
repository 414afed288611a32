// All that a selector may know of its member and do with it. Nothing here gives, counts or releases
// a promise: a selector asks for a candidacy, and lease/ decides.
#pragma once

#include <optional>

#include "protocol/lease/answering.hpp"
#include "protocol/lease/campaign.hpp"
#include "protocol/lease/counting.hpp"
#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/elections.hpp"
#include "protocol/tenure/leaders.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

class MemberAccess {
public:
    explicit MemberAccess(Parts& node) : node_(node) {}

    // ---- Itself, and the list that it goes by.
    const Timing& timing() const { return node_.timing(); }
    const Membership& members() const { return node_.setup.members(); }
    std::size_t size() const { return node_.size(); }
    /// T_ring: the list may be longer than that of the start.
    Duration ring_wait() const { return timing().ring_wait_of(size()); }
    Index me() const { return node_.me(); }
    NodeId self() const { return node_.setup.self(); }
    Incarnation incarnation() const { return node_.setup.incarnation(); }
    Rank own_rank() const { return node_.own_rank(); }
    NodeId id(Index i) const { return node_.id(i); }
    /// So many are enough for a leader.
    bool is_majority(MemberSet members) const { return node_.is_majority(members); }
    Duration longest_promise() const { return node_.setup.longest_promise(); }

    // ---- The others (§6).
    Rank rank(Index i) const { return node_.peers.rank(i); }
    bool heard(Index i, Instant now) const { return node_.peers.heard(i, now); }
    bool connected(Index i, Instant now) const { return node_.peers.connected(i, now); }
    MemberSet connected_higher(Instant now) const { return node_.peers.connected_higher(now); }
    /// The newest session of that run on which something was said; nullptr: none.
    const AcceptedSession* newest_spoken(Index i, Incarnation run) const {
        return node_.sessions.newest_spoken(i, run);
    }

    // ---- Who leads.
    Role role() const { return node_.role(); }
    Epoch epoch() const { return node_.epoch(); }
    Epoch max_seen() const { return node_.max_seen; }
    bool learn_epoch(Instant now, Epoch epoch) { return node_.learn_epoch(now, epoch); }
    LeaderView first_hand(Instant now) const { return protocol::first_hand(node_, now); }
    LeaderView second_hand(Instant now) const { return protocol::second_hand(node_, now); }
    bool leader_known(Instant now) const { return protocol::leader_known(node_, now); }
    bool known_gone(NodeId leader, Epoch epoch, Instant now) const {
        return node_.peers.known_gone(leader, epoch, now);
    }
    Duration view_left(Instant now, const LeaderView& view) const {
        return protocol::view_left(node_, now, view);
    }
    void adopt_view(Step& step, Index from, const LeaderView& view) {
        protocol::adopt_view(node_, step, from, view);
    }

    // ---- Standing (§7).
    bool quorum_connected(Instant now) const { return protocol::quorum_connected(node_, now); }
    bool eligible(Instant now) const { return protocol::eligible(node_, now); }
    bool silent(Instant now) const { return protocol::silent(node_, now); }
    bool removed() const { return node_.removed(); }
    bool bound(Instant now) const { return protocol::bound(node_, now); }
    bool may_campaign(Instant now) const { return protocol::may_campaign(node_, now); }
    bool may_start(Instant now) const { return protocol::may_start(node_, now); }
    bool answer_call(Step& step) { return protocol::answer_call(node_, step); }
    bool called() const { return node_.election_timer.call() != Call::none; }
    bool retry_due(Instant now) const { return node_.election_timer.retry_due(now); }
    void retry_not_before(Instant at) { node_.election_timer.retry_not_before(at); }
    Duration random_up_to(Duration most) { return node_.rng.up_to(most); }
    void say_election_started(Step& step, const char* reason) {
        protocol::say_election_started(node_, step, reason);
    }
    std::optional<AddressedRequest> campaign(Step& step) { return protocol::campaign(node_, step); }
    void abandon(Step& step, Duration wait_at_least) {
        protocol::abandon(node_, step, wait_at_least);
    }

    // ---- Requests and their answers, where messages of the algorithm carry them.
    std::optional<Vote> on_request(Step& step, const LeaseRequest& request) {
        return protocol::on_request(node_, step, request);
    }
    void on_grant(Step& step, Index voter, const Grant& grant) {
        protocol::on_grant(node_, step, voter, grant);
    }
    void on_nack(Step& step, Index voter, const Nack& nack) {
        protocol::on_nack(node_, step, voter, nack);
    }

    // ---- Sending.
    bool can_send(Index to) const { return protocol::can_send(node_, to); }
    template <class M>
    void send(Step& step, Index to, const M& message) const {
        protocol::send(node_, step, to, message);
    }
    /// Sends it to each of those to whom it goes.
    void send(Step& step, const AddressedRequest& asked) const {
        for (const Index i : asked.to) protocol::send(node_, step, i, asked.request);
    }

private:
    Parts& node_;
};

}  // namespace bullring::protocol
