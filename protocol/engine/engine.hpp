// The lease engine (PROTOCOL R1–R9): a leader holds the promises of a majority, and each of them
// for a time. Whether a promise may be given and whether a lease holds is decided here alone.
//
// Its parts have their own state: voter (the promise), holder (what was granted to it), recovery
// (R6), reserve (R7), identity poll (C11). Rules that need several of them stand here, in files by
// subject: vote (R2), campaign (R1, R3), restart (R6, C8, twins), recall (R6: the answer to a
// restarted voter), members (C1 to C8), forgetting (C9), identity (C11), callers (C13),
// preemption (§9), engine (the rest).
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "protocol/engine/holder.hpp"
#include "protocol/engine/identity_poll.hpp"
#include "protocol/engine/list_changes.hpp"
#include "protocol/engine/recovery.hpp"
#include "protocol/engine/reserve.hpp"
#include "protocol/engine/voter.hpp"
#include "protocol/member/member.hpp"

namespace bullring::protocol {

class Engine final : public Member {
public:
    Engine(const Config& config, const Start& start);

    const Promise& promise() const { return voter_.promise(); }
    const Holder& holder() const { return holder_; }
    /// The list on its disk, or the newer one that is to come there.
    const Membership& newest_members() const { return reserve_.newest_members(); }
    const Recovery& recovery() const { return recovery_; }
    bool recovering() const { return !recovery_.over(); }

    const Membership& list() const override { return reserve_.on_disk().members; }
    const Membership& newest_list() const override {
        return tenure_.follows() ? reserve_.newest_members() : holder_.newest();
    }
    bool is_majority(MemberSet members) const override { return deciding().is_majority(members); }
    Identity identity() const override;
    LeaderView first_hand(Instant now) const override;
    LeaderView second_hand(Instant now) const override { return peers_.second_hand(now); }
    Duration view_left(Instant now, const LeaderView& view) const override {
        return promise_left(now, view.until);
    }
    Instant lease_end() const override { return holder_.lease().deadline(); }
    Instant untied_until() const override { return holder_.lease().untied_deadline(); }
    bool silent(Instant now) const override;
    bool bound(Instant now) const override { return promise().live(now); }

    std::optional<AddressedRequest> campaign(Step& step) override;
    void abandon(Step& step, Duration wait_at_least) override;
    std::optional<AddressedRequest> renew_if_due(Step& step) override;
    std::optional<Vote> on_request(Step& step, const LeaseRequest& request) override {
        return vote(step, request);
    }
    void on_grant(Step& step, Index voter, const Grant& grant) override;
    void on_nack(Step& step, Index voter, const Nack& nack) override;

    void check_lapse(Step& step) override;
    void on_coordinator(Step& step, const AcceptedSession& from,
                        const Coordinator& request) override;
    void on_persisted(Step& step, const Persisted& event) override;
    void on_members_requested(Step& step, const MembersRequested& event) override;
    void on_tying(Step& step, const Tying& event) override;
    void collect_wakes(WakeTime& wake) const override;
    void check_invariants(Instant now) const override;

    bool operator==(const Engine&) const = default;
    auto digest_fields() const {
        return std::tie(static_cast<const Member&>(*this), voter_, holder_, recovery_, reserve_,
                        changes_, poll_);
    }

private:
    // Member calls these functions of an engine.
    void advance_engine(Step& step) override;
    void settle(Step& step) override;
    bool all_written() const override;
    bool next_epoch_durable() const override {
        return max_seen_ + 1 <= reserve_.on_disk().hw && reserve_.has_members();
    }
    bool others_awaited(Instant now) const override;
    bool lease_refused(Instant now) const override;
    MemberSet grants(Instant now) const override { return holder_.lease().voters(now); }
    void on_follower(Epoch given_up) override;
    bool on_resigned(const AcceptedSession& from, Epoch epoch) override;
    void fill_hello(Hello& hello) const override;
    void answer_hello(Instant now, const Hello& hello, HelloAck& ack) override;
    bool asks_again() const override { return recovery_.asked_again(); }
    void on_word(Step& step, const Word& word) override;
    void on_members_changed() override { recovery_.follow(setup_); }
    void on_forgotten(const Peer& peer) override {
        changes_.twin_over = later(changes_.twin_over, peer.twin_over);
    }
    void note_run_of(Step& step, Index i) override;
    bool may_be_dialled_where_it_calls(Index i) const override;
    void on_ack(Step& step, Index i, const HelloAck& ack) override;
    void greet(Step& step, Index i) override;
    void on_accepted_ended(Step& step, const AcceptedSession& session, SessionEnd how) override;
    void on_buried(Step& step, HolderKey key) override;
    bool keeps_open(SessionId dialled, Instant now) const override;
    void told_of_twin(Step& step, Peer& by) override;
    void fill_view(View& view, Instant now) const override;
    std::string why_leading(Instant now) const override;
    std::string why_silent(Instant now) const override;
    std::string why_silent_with_file(Instant now) const;
    std::string why_silent_without_file(Instant now) const;
    std::string why_bound(Instant now) const override;

    // vote.cpp
    Vote vote(Step& step, const LeaseRequest& request);
    /// To itself, for an epoch and a lease, under that list.
    Vote vote_for_itself(Step& step, Epoch epoch, Duration lease, bool renew,
                         const Membership& list);
    std::optional<Vote> refusal_outside_promise(Instant now, const LeaseRequest& request) const;
    void answer(Step& step, const AcceptedSession& from, const Coordinator& request,
                const Vote& vote, bool parked);
    void serve_parked(Step& step);
    void serve_waiting(Step& step);
    /// The promise that a request of that peer will need; 0 of one that would be refused.
    Duration expected_promise(Index i) const;

    // campaign.cpp
    /// Whether voters are asked to tie what they grant to a session (R4.4, R4.5, N4).
    bool ties() const {
        return config().tie && config().fast_release == FastRelease::fin && holder_.tied();
    }
    Coordinator candidacy(Instant now);
    Coordinator renewal(Instant now) const;
    /// A leader renews, and so does one that steps down while its task ends (R5.1).
    bool renews() const;
    bool renewal_due(Instant now) const;
    void grants_changed(Step& step);
    bool take_answered(Step& step, Index voter, const Nack& nack);
    void on_stale_members(Step& step, Index voter, const Nack& nack);
    void refused_by(Step& step, Index voter, Duration remaining);

    // recall.cpp
    Recall recall(Instant now, Index i, const Hello& hello) const;
    /// That member's answer to this node, as far as it still is one.
    Recall::Answer told_by(Index i) const;
    /// By one member's answer: a promise of an earlier run.
    struct Held {
        PromiseRequest promise;
        Instant since;
    };
    std::optional<Held> held() const;
    /// By the answers of all others no promise of an earlier run is counted.
    bool nothing_held() const;
    /// And none of them has met an earlier run or had a file: a new cluster begins.
    bool all_are_new() const;

    // restart.cpp
    void advance_recovery(Step& step);
    void advance_with_file(Step& step);
    void advance_without_file(Step& step);
    void tell_who_is_missing(Step& step);
    bool may_found(Instant now) const;
    bool founded_early() const;
    void go_on_as_founder(Step& step);
    void begin_new_cluster(Step& step);
    void wait_for_list(Step& step);
    void end_silence_without_file(Step& step);
    /// Closes the sessions that this node has dialled there, as one that needs none of them may.
    void dial_again(Step& step, Index i);
    void find_floor(Step& step);
    bool most_have_no_file() const;
    void take_floor_from_clock(Step& step, const char* why);
    /// Once the disk covers what this node may have promised; true: now.
    bool end_recovery(Step& step, Epoch vmax, Duration promised_max, bool early);
    void keep_for_recovery(Epoch vmax, Duration promised_max);
    void taken_after_twin(Peer& by, Instant now);
    /// Until when a process with the same id elsewhere may have votes that count, as peers report.
    Instant twin_over() const;

    // members.cpp
    /// The list whose voters decide for this node: as a holder that of its leadership.
    const Membership& deciding() const;
    Membership known_members() const;
    void on_shown(Step& step, const Membership& shown);
    bool is_of_other_cluster(const Membership& shown) const;
    bool hears_a_founder(Instant now) const;
    void note_other_founding(Step& step, const Membership& shown);
    void take_shown(Instant now);
    std::string contradiction(Instant now, const MemberChange& change) const;
    std::string hindrance(Instant now, const MemberChange& change) const;
    Tag next_tag() const;
    void forget_who_has(const Membership& one);
    void propose(Instant now, const Membership& next);
    void manage_list(Step& step);
    std::optional<NodeId> who_cannot_follow_lists() const;
    bool somebody_is_ahead(Instant now) const;
    bool somebody_is_to_be_told(Instant now) const;
    void list_settled(Step& step);
    void end_change(Step& step, bool done, std::string why);
    const Membership& list_for_own_vote(Instant now) const;
    bool may_be_told(Index from, const Coordinator& request) const;
    void take_told(Step& step, const Coordinator& request);
    void meet_again(Step& step, const Membership& told);
    void go_on_with(Step& step, const Membership& list, const Identity& identity);

    // identity.cpp
    std::optional<ClusterId> answered_id() const;
    Identity answered_identity() const;
    bool is_of_answered_cluster(Index from, const std::optional<Identity>& named) const;
    void learn_identity(Step& step, const Identity& told);
    void note_told(Index by, const Identity& has);
    void learn_with_list(Step& step, const std::optional<Identity>& named);
    bool may_take_list_of(Index from, const std::optional<Identity>& named) const;
    void note_list_refused(Step& step, Index from, const Tag& tag);
    void part_with_strangers(Step& step);
    bool is_stranger(Index i) const;
    void part_with(Step& step, Index i);
    bool somebody_is_to_tell(Instant now) const;
    bool majority_knows_of_ids() const;
    void manage_identity(Step& step);
    bool identity_is_awaited() const;
    Identity identity_to_tell() const;
    void on_identity_told(Step& step, Index voter, const Identity& has);

    // callers.cpp
    bool is_same_run(Index i) const;
    std::string address_of(Index i) const;
    bool says_it_is_at(NodeId member, const std::string& address) const;
    bool answers_at_its_address(Instant now, NodeId member) const;

    // forgetting.cpp
    bool may_be_forgotten(Instant now, Index i) const;
    Instant missed_since(Index i) const;
    void forget_who_is_gone(Step& step);
    void tell_who_is_forgotten(Step& step, NodeId member);
    void collect_forgetting(WakeTime& wake) const;

    // preemption.cpp
    void consider_preemption(Step& step);

    // engine.cpp
    void keep_reserve(Step& step);

    Voter voter_;
    Holder holder_;
    Recovery recovery_;
    Reserve reserve_;
    ListChanges changes_;
    IdentityPoll poll_;
};

}  // namespace bullring::protocol
