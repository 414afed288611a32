// All that a selector may know of its member and do with it. Nothing here gives, counts or releases
// a promise: a selector asks for a candidacy, and the engine decides.
#pragma once

#include <optional>

#include "protocol/member/member.hpp"

namespace bullring::protocol {

class MemberAccess {
public:
    explicit MemberAccess(Member& member) : member_(member) {}

    // ---- Itself, and the list that it goes by.
    const Timing& timing() const { return member_.timing(); }
    const Membership& members() const { return member_.setup().members(); }
    std::size_t size() const { return member_.size(); }
    /// T_ring: the list may be longer than that of the start.
    Duration ring_wait() const { return timing().ring_wait_of(size()); }
    Index me() const { return member_.me(); }
    NodeId self() const { return member_.setup().self(); }
    Incarnation incarnation() const { return member_.setup().incarnation(); }
    Rank own_rank() const { return member_.own_rank(); }
    NodeId id(Index i) const { return member_.id(i); }
    /// So many are enough for a leader.
    bool is_majority(MemberSet members) const { return member_.is_majority(members); }
    Duration longest_promise() const { return member_.setup().longest_promise(); }

    // ---- The others (§6).
    Rank rank(Index i) const { return member_.peers().rank(i); }
    bool heard(Index i, Instant now) const { return member_.peers().heard(i, now); }
    bool connected(Index i, Instant now) const { return member_.peers().connected(i, now); }
    MemberSet connected_higher(Instant now) const { return member_.peers().connected_higher(now); }
    /// The newest session of that run on which something was said; nullptr: none.
    const AcceptedSession* newest_spoken(Index i, Incarnation run) const {
        return member_.sessions().newest_spoken(i, run);
    }

    // ---- Who leads.
    Role role() const { return member_.role(); }
    Epoch epoch() const { return member_.epoch(); }
    Epoch max_seen() const { return member_.max_seen(); }
    bool learn_epoch(Instant now, Epoch epoch) { return member_.learn_epoch(now, epoch); }
    LeaderView first_hand(Instant now) const { return member_.first_hand(now); }
    LeaderView second_hand(Instant now) const { return member_.second_hand(now); }
    bool leader_known(Instant now) const { return member_.leader_known(now); }
    bool known_gone(NodeId leader, Epoch epoch, Instant now) const {
        return member_.peers().known_gone(leader, epoch, now);
    }
    Duration view_left(Instant now, const LeaderView& view) const {
        return member_.view_left(now, view);
    }
    void adopt_view(Step& step, Index from, const LeaderView& view) {
        member_.adopt_view(step, from, view);
    }

    // ---- Standing (§7).
    bool quorum_connected(Instant now) const { return member_.quorum_connected(now); }
    bool eligible(Instant now) const { return member_.eligible(now); }
    bool silent(Instant now) const { return member_.silent(now); }
    bool removed() const { return member_.removed(); }
    bool bound(Instant now) const { return member_.bound(now); }
    bool may_campaign(Instant now) const { return member_.may_campaign(now); }
    bool may_start(Instant now) const { return member_.may_start(now); }
    bool answer_call(Step& step) { return member_.answer_call(step); }
    bool called() const { return member_.called(); }
    bool retry_due(Instant now) const { return member_.retry_due(now); }
    void retry_not_before(Instant at) { member_.retry_not_before(at); }
    Duration random_up_to(Duration most) { return member_.rng().up_to(most); }
    void say_election_started(Step& step, const char* reason) {
        member_.say_election_started(step, reason);
    }
    std::optional<AddressedRequest> campaign(Step& step) { return member_.campaign(step); }
    void abandon(Step& step, Duration wait_at_least) { member_.abandon(step, wait_at_least); }

    // ---- Requests and their answers, where messages of the algorithm carry them.
    std::optional<Vote> on_request(Step& step, const LeaseRequest& request) {
        return member_.on_request(step, request);
    }
    void on_grant(Step& step, Index voter, const Grant& grant) {
        member_.on_grant(step, voter, grant);
    }
    void on_nack(Step& step, Index voter, const Nack& nack) { member_.on_nack(step, voter, nack); }

    // ---- Sending.
    bool can_send(Index to) const { return member_.can_send(to); }
    template <class M>
    void send(Step& step, Index to, const M& message) const {
        member_.send(step, to, message);
    }
    /// Sends it to each of those to whom it goes.
    void send(Step& step, const AddressedRequest& asked) const {
        for (const Index i : asked.to) member_.send(step, i, asked.request);
    }

private:
    Member& member_;
};

}  // namespace bullring::protocol
