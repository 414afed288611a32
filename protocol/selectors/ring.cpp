#include "protocol/selectors/ring.hpp"

#include <algorithm>
#include <utility>

#include "protocol/values/by_slot.hpp"

namespace bullring::protocol {

namespace {

/// No token is under way for so long.
constexpr Duration token_life_max = seconds(10);

bool well_formed(const MemberAccess& member, const Walk& walk) {
    const Membership& members = member.members();
    // Of a node with another list it may name slots that are free here.
    return members.index(walk.owner) && walk.path.size() <= members_max &&
           std::all_of(walk.path.begin(), walk.path.end(),
                       [&](Index i) { return i < members_max; });
}

/// Whose grants its owner will have when it is home.
MemberSet granting(const MemberAccess& member, Index owner, const CoordinatorToken& token) {
    MemberSet set;
    set.insert(owner);
    for (const TokenGrant& grant : token.grants)
        if (const auto voter = member.members().index(grant.voter)) set.insert(*voter);
    return set;
}

}  // namespace

Ring::Seen& Ring::SeenRuns::of(Incarnation run) {
    if (latest.incarnation != run) std::swap(latest, before);
    return latest;
}

bool Ring::accept(MemberAccess& member, Step& step, Index from, const Walk& walk) {
    // C7.1: those that still count on a removed node try the next one after T_hop; the others do
    // not listen to it, so a token would end here.
    if (member.removed() || !well_formed(member, walk)) return false;
    if (!plain_)
        member.send(step, from,
                    TokenAck{walk.owner, walk.owner_incarnation, walk.round, walk.step});
    // Ignores this node's tokens of earlier runs, and of rounds that this run has not begun: they
    // say nothing of how far the tokens of this run have come.
    if (walk.owner == member.self() &&
        (walk.owner_incarnation != member.incarnation() || walk.round > round_))
        return false;
    // T1.2
    Seen& seen = at_slot(seen_, *member.members().index(walk.owner)).of(walk.owner_incarnation);
    const Duration memory = std::max(member.longest_promise(), token_life_max);
    const bool remembered = !due(step.now, seen.at + memory);
    if (remembered && seen.incarnation == walk.owner_incarnation &&
        (walk.round < seen.round || (walk.round == seen.round && walk.step <= seen.step)))
        return false;
    seen = {walk.owner_incarnation, walk.round, walk.step, step.now};
    // A token that came another way takes the place of a request of its owner that is kept here.
    if (held_ && held_->token.walk.owner_incarnation == walk.owner_incarnation) held_.reset();
    return true;
}

// ---- The election token.

void Ring::start(MemberAccess& member, Step& step, const char* reason) {
    member.say_election_started(step, reason);
    own_round_ = ++round_;
    round_until_ = step.now + member.ring_wait();
    Token token;
    token.walk.owner = member.self();
    token.walk.owner_incarnation = member.incarnation();
    token.walk.round = own_round_;
    visit(token.walk, member.me());
    token.owner_priority = member.own_rank().priority;
    token.max_seen = member.max_seen();
    if (!hops_.forward(member, step, token)) own_token_back(member, step, token);
}

void Ring::on_message(MemberAccess& member, Step& step, Index from, const Token& received) {
    if (!accept(member, step, from, received.walk)) return;
    member.learn_epoch(step.now, received.max_seen);
    Token token = received;
    token.max_seen = member.max_seen();
    if (token.walk.owner == member.self()) return own_token_back(member, step, token);
    // A later one of its owner takes its place, whatever becomes of that.
    if (parked_ && parked_->token.walk.owner == token.walk.owner) parked_.reset();
    const LeaderView leader = member.first_hand(step.now);
    if (leader.leader && leader.leader != token.walk.owner) {
        const auto rank_of = [](const Token& t) { return Rank{t.owner_priority, t.walk.owner}; };
        if (!parked_ || due(step.now, parked_->until) || rank_of(token) >= rank_of(parked_->token))
            parked_ = {std::move(token), step.now + member.ring_wait()};
        return;
    }
    pass_or_swallow(member, step, token);
}

void Ring::pass_or_swallow(MemberAccess& member, Step& step, Token token) {
    const bool better = member.own_rank() > Rank{token.owner_priority, token.walk.owner};
    if (better && member.may_campaign(step.now) && member.quorum_connected(step.now) &&
        able(step.now) && !member.called()) {
        // T2.2: in the pause after a try that has failed the next one is still its own, but not
        // yet: the lower node may have been set free by that very failure, and the two would keep
        // each other busy as fast as the network lets them.
        if (own_round_ == 0 && member.retry_due(step.now))
            start(member, step, "a lower node's token");
        return;
    }
    visit(token.walk, member.me());
    hops_.forward(member, step, std::move(token));
}

void Ring::own_token_back(MemberAccess& member, Step& step, const Token& token) {
    if (token.walk.owner_incarnation != member.incarnation() || token.walk.round != own_round_ ||
        own_round_ == 0)
        return;
    if (member.is_majority(token.walk.visited)) return stand(member, step);
    Token onward = token;
    onward.walk.path = {member.me()};
    if (!hops_.forward(member, step, onward)) round_failed(member, step, member.ring_wait());
}

void Ring::round_failed(MemberAccess& member, Step& step, Duration wait) {
    own_round_ = 0;
    round_until_ = never;
    able_after_ = step.now + member.ring_wait() * 4;
    member.retry_not_before(step.now + wait);
}

void Ring::stand(MemberAccess& member, Step& step) {
    own_round_ = 0;
    round_until_ = never;
    if (const auto asked = member.campaign(step)) return carry(member, step, *asked);
    // It has to wait, for its disk perhaps. Others' tokens pass meanwhile, or nobody could lead.
    able_after_ = step.now + member.ring_wait() * 4;
}

// ---- The coordinator token.

void Ring::carry(MemberAccess& member, Step& step, const AddressedRequest& asked) {
    const Coordinator& request = asked.request;
    if (request.renew && !plain_) return member.send(step, asked);
    if (member.size() == 1) return;
    CoordinatorToken token;
    own_request_round_ = ++round_;
    token.walk.owner = member.self();
    token.walk.owner_incarnation = member.incarnation();
    token.walk.round = own_request_round_;
    visit(token.walk, member.me());
    token.request = request;
    // C1.1: all nodes have the founders' list, or are told it by its tag.
    if (request.tag == Tag{}) {
        token.request.members.reset();
        token.request.identity.reset();
    }
    if (!hops_.forward(member, step, token)) member.abandon(step, member.timing().hop_wait);
}

void Ring::on_message(MemberAccess& member, Step& step, Index from, const CoordinatorToken& token) {
    if (!accept(member, step, from, token.walk)) return;
    member.learn_epoch(step.now, token.request.epoch);
    if (token.walk.owner == member.self()) return own_request_back(member, step, token);
    vote_and_pass(member, step, token, step.now + member.timing().hop_wait / 3);
}

void Ring::vote_and_pass(MemberAccess& member, Step& step, CoordinatorToken token,
                         Instant hold_until) {
    const Index owner = *member.members().index(token.walk.owner);
    const AcceptedSession* session = member.newest_spoken(owner, token.walk.owner_incarnation);
    const bool tied = token.request.tie && session != nullptr && session->release_ok;
    const bool first_visit = !token.walk.visited.contains(member.me());
    std::optional<Vote> vote;
    if (first_visit || plain_)
        vote = member.on_request(step, {{token.walk.owner, token.walk.owner_incarnation},
                                        token.request.epoch,
                                        token.request.lease,
                                        token.request.renew,
                                        tied ? session->id : no_session,
                                        token.request.tag,
                                        token.request.members,
                                        token.request.identity});
    if (vote) {
        const bool after_disk = vote->kind == Vote::Kind::after_disk;
        const bool granted = vote->kind == Vote::Kind::granted;
        const bool busy = vote->kind == Vote::Kind::refused && vote->reason == NackReason::busy;
        // Not for a disk that is known to be slow: others would stand meanwhile, again and again.
        const bool soon = busy || (after_disk && !disk_is_slow_ && !member.called());
        if (soon && !held_ && !due(step.now, hold_until)) {
            held_ = {std::move(token), hold_until};
            return;
        }
        if (granted || after_disk) disk_is_slow_ = after_disk;
        if (granted)
            token.grants.push_back(
                {member.self(), member.incarnation(), tied ? session->number : no_session});
        else if (after_disk)  // like a voter that is still silent: later, perhaps
            token.nacks.push_back(
                {member.self(), NackReason::recovering, nobody, Epoch{}, member.timing().hop_wait});
        else
            token.nacks.push_back({member.self(), vote->reason, vote->promise_holder,
                                   vote->promised_epoch, vote->remaining});
        // C4.1: a token has no room for the list.
        if (vote->members)
            member.send(
                step, owner,
                Nack{token.walk.owner_incarnation, token.request.epoch, vote->reason, nobody,
                     Epoch{}, vote->remaining, false, vote->members, vote->identity});
    }
    visit(token.walk, member.me());
    // Enough for the lease: straight home with it.
    if (!plain_ && member.is_majority(granting(member, owner, token)) &&
        member.connected(owner, step.now) && hops_.send_to(member, step, owner, token))
        return;
    hops_.forward(member, step, std::move(token));
}

/// Reads the answers, and nobody does so again later: they are as old as the token's return, and a
/// voter whose session comes up after it is asked anew.
void Ring::own_request_back(MemberAccess& member, Step& step, CoordinatorToken token) {
    const Coordinator& request = token.request;
    if (plain_ || token.walk.owner_incarnation != member.incarnation() ||
        member.role() == Role::follower || request.epoch != member.epoch())
        return;
    for (const TokenGrant& grant : token.grants)
        if (const auto voter = member.members().index(grant.voter); voter && *voter != member.me())
            member.on_grant(
                step, *voter,
                Grant{token.walk.owner_incarnation, request.epoch, request.lease, request.stamp,
                      grant.tied_session, grant.voter_incarnation, std::nullopt, request.tag});
    for (const TokenNack& nack : token.nacks)
        if (const auto voter = member.members().index(nack.voter); voter && *voter != member.me())
            member.on_nack(step, *voter,
                           Nack{token.walk.owner_incarnation, request.epoch, nack.reason,
                                nack.promise_holder, nack.promised_epoch, nack.remaining, false});
    own_request_onward(member, step, std::move(token));
}

void Ring::own_request_onward(MemberAccess& member, Step& step, CoordinatorToken token) {
    if (token.walk.owner_incarnation != member.incarnation() ||
        token.walk.round != own_request_round_ || member.role() != Role::candidate)
        return;
    token.walk.path = {member.me()};
    if (!hops_.forward(member, step, std::move(token)))
        member.abandon(step, member.timing().hop_wait);
}

void Ring::on_message(MemberAccess&, Step&, Index from, const TokenAck& ack) {
    hops_.on_ack(from, ack);
}

// ---- Timers and conditions.

/// Whether it is a token of this node's own that nobody waits for any more.
bool Ring::is_over(const MemberAccess& member, const AnyToken& token) const {
    const Walk& walk = walk_of(token);
    if (walk.owner != member.self()) return false;
    if (std::holds_alternative<Token>(token)) return walk.round != own_round_;
    return walk.round != own_request_round_ || member.role() != Role::candidate;
}

void Ring::advance(MemberAccess& member, Step& step) {
    hops_.forget([&](const AnyToken& token) { return is_over(member, token); });
    for (AnyToken& stranded : hops_.resend_failed(member, step)) {
        if (walk_of(stranded).owner != member.self()) continue;
        if (auto* token = std::get_if<Token>(&stranded)) own_token_back(member, step, *token);
        if (auto* token = std::get_if<CoordinatorToken>(&stranded))
            own_request_onward(member, step, std::move(*token));
    }
    if (member.answer_call(step)) stand(member, step);

    // Also while this node waits for its own disk: what it has of others' must not wait with it.
    if (held_ && (!member.bound(step.now) || due(step.now, held_->until))) {
        Kept held = *std::exchange(held_, std::nullopt);
        vote_and_pass(member, step, std::move(held.token), held.until);
    }
    // Its owner has given that round up by then.
    if (parked_ && due(step.now, parked_->until)) parked_.reset();
    if (parked_) {
        const LeaderView leader = member.first_hand(step.now);
        if (!leader.leader || leader.leader == parked_->token.walk.owner)
            pass_or_swallow(member, step, std::exchange(parked_, std::nullopt)->token);
    }
    if (member.called()) return;
    if (own_round_ != 0 && (member.role() != Role::follower || member.leader_known(step.now))) {
        own_round_ = 0;
        round_until_ = never;
    }
    if (own_round_ != 0 && due(step.now, round_until_))
        round_failed(member, step, member.random_up_to(member.ring_wait() / 4));
    if (own_round_ == 0 && member.may_start(step.now)) start(member, step, "no leader is known");
}

void Ring::collect_wakes(WakeTime& wake) const {
    wake.timer(round_until_);
    wake.timer(able_after_);
    if (held_) wake.timer(held_->until);
    hops_.collect_wakes(wake);
}

}  // namespace bullring::protocol
