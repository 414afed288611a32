#include "protocol/ring.hpp"

#include <algorithm>
#include <utility>

namespace bullring::protocol {

namespace {

/// No token is under way for so long.
constexpr Duration token_life_max = seconds(10);

bool well_formed(const Core& core, const Walk& walk) {
    const std::uint64_t members =
        core.size() == members_max ? ~std::uint64_t{0} : (std::uint64_t{1} << core.size()) - 1;
    if (!core.config().members.index(walk.owner) || (walk.visited.bits() & ~members) != 0)
        return false;
    return walk.path.size() <= core.size() && std::all_of(walk.path.begin(), walk.path.end(),
                                                          [&](Index i) { return i < core.size(); });
}

}  // namespace

Ring::Seen& Ring::SeenRuns::of(Incarnation run) {
    if (latest.incarnation != run) std::swap(latest, before);
    return latest;
}

bool Ring::accept(Core& core, Step& step, Index from, const Walk& walk) {
    if (!well_formed(core, walk)) return false;
    if (!core.textbook())
        core.send(step, from, TokenAck{walk.owner, walk.owner_incarnation, walk.round, walk.step});
    // What an earlier run of this node has left behind is nobody's, and no news of its own tokens;
    // nor is a round that it has not begun.
    if (walk.owner == core.config().self &&
        (walk.owner_incarnation != core.own_key().incarnation || walk.round > round_))
        return false;
    Seen& seen = seen_[*core.config().members.index(walk.owner)].of(walk.owner_incarnation);
    const Duration memory = std::max(core.longest_promise(), token_life_max);
    const bool remembered = !due(step.now, seen.at + memory);
    if (remembered && seen.incarnation == walk.owner_incarnation &&
        (walk.round < seen.round || (walk.round == seen.round && walk.step <= seen.step)))
        return false;
    seen = {walk.owner_incarnation, walk.round, walk.step, step.now};
    // What came another way while this node kept a request of that owner takes its place.
    if (held_ && held_->token.walk.owner_incarnation == walk.owner_incarnation) held_.reset();
    return true;
}

// ---- The election token.

void Ring::start(Core& core, Step& step, const char* reason) {
    core.say_election_started(step, reason);
    own_round_ = ++round_;
    round_until_ = step.now + core.timing().ring_wait;
    Token token;
    token.walk.owner = core.config().self;
    token.walk.owner_incarnation = core.own_key().incarnation;
    token.walk.round = own_round_;
    visit(token.walk, core.me());
    token.owner_priority = core.config().priority;
    token.max_seen = core.max_seen();
    if (!hops_.forward(core, step, token)) own_token_back(core, step, token);
}

void Ring::on_token(Core& core, Step& step, Index from, const Token& received) {
    if (!accept(core, step, from, received.walk)) return;
    core.learn_epoch(step.now, received.max_seen);
    Token token = received;
    token.max_seen = core.max_seen();
    if (token.walk.owner == core.config().self) return own_token_back(core, step, token);
    // A later one of its owner takes its place, whatever becomes of that.
    if (parked_ && parked_->walk.owner == token.walk.owner) parked_.reset();
    const LeaderView leader = core.first_hand(step.now);
    if (leader.leader && leader.leader != token.walk.owner) {
        const auto rank_of = [](const Token& t) { return Rank{t.owner_priority, t.walk.owner}; };
        if (!parked_ || rank_of(token) >= rank_of(*parked_)) parked_ = token;
        return;
    }
    pass_or_swallow(core, step, token);
}

void Ring::pass_or_swallow(Core& core, Step& step, Token token) {
    const bool better = core.own_rank() > Rank{token.owner_priority, token.walk.owner};
    if (better && core.may_campaign(step.now) && core.quorum_connected(step.now) &&
        able(step.now) && !core.called()) {
        // In the pause after a try that has failed the next one is still its own, but not yet: the
        // lower node may have been set free by that very failure, and the two would keep each other
        // busy as fast as the network lets them.
        if (own_round_ == 0 && core.retry_due(step.now)) start(core, step, "a lower node's token");
        return;
    }
    visit(token.walk, core.me());
    hops_.forward(core, step, std::move(token));
}

void Ring::own_token_back(Core& core, Step& step, const Token& token) {
    if (token.walk.owner_incarnation != core.own_key().incarnation ||
        token.walk.round != own_round_ || own_round_ == 0)
        return;
    if (token.walk.visited.size() >= core.majority()) return stand(core, step);
    Token onward = token;
    onward.walk.path = {core.me()};
    if (!hops_.forward(core, step, onward)) round_failed(core, step, core.timing().ring_wait);
}

void Ring::round_failed(Core& core, Step& step, Duration wait) {
    own_round_ = 0;
    round_until_ = never;
    able_after_ = step.now + core.timing().ring_wait * 4;
    core.retry_not_before(step.now + wait);
}

void Ring::stand(Core& core, Step& step) {
    own_round_ = 0;
    round_until_ = never;
    if (const auto request = core.campaign(step)) return carry(core, step, *request);
    // It has to wait, for its disk perhaps. Others' tokens pass meanwhile, or nobody could lead.
    able_after_ = step.now + core.timing().ring_wait * 4;
}

// ---- The coordinator token.

void Ring::carry(Core& core, Step& step, const Coordinator& request) {
    if (request.renew && !core.textbook()) return core.broadcast(step, request);
    if (core.size() == 1) return;
    CoordinatorToken token;
    own_request_round_ = ++round_;
    token.walk.owner = core.config().self;
    token.walk.owner_incarnation = core.own_key().incarnation;
    token.walk.round = own_request_round_;
    visit(token.walk, core.me());
    token.request = request;
    if (!hops_.forward(core, step, token)) core.abandon(step, core.timing().hop_wait);
}

void Ring::on_coordinator_token(Core& core, Step& step, Index from, const CoordinatorToken& token) {
    if (!accept(core, step, from, token.walk)) return;
    core.learn_epoch(step.now, token.request.epoch);
    if (token.walk.owner == core.config().self) return own_request_back(core, step, token);
    vote_and_pass(core, step, token, step.now + core.timing().hop_wait / 3);
}

void Ring::vote_and_pass(Core& core, Step& step, CoordinatorToken token, Instant hold_until) {
    const Index owner = *core.config().members.index(token.walk.owner);
    if (core.textbook()) {
        core.note_announcement(step.now, owner, token.request.epoch);
    } else if (!token.walk.visited.contains(core.me())) {
        const AcceptedSession* session =
            core.sessions().newest_spoken(owner, token.walk.owner_incarnation);
        const bool tied = token.request.tie && session != nullptr && session->release_ok;
        const Vote vote = core.vote(step, {{token.walk.owner, token.walk.owner_incarnation},
                                           token.request.epoch,
                                           token.request.lease,
                                           token.request.renew,
                                           tied ? session->id : no_session});
        const bool after_disk = vote.kind == Vote::Kind::after_disk;
        const bool granted = vote.kind == Vote::Kind::granted;
        const bool busy = vote.kind == Vote::Kind::refused && vote.reason == NackReason::busy;
        // Not for a disk that is known to be slow: others would stand meanwhile, again and again.
        const bool soon = busy || (after_disk && !disk_is_slow_ && !core.called());
        if (soon && !held_ && !due(step.now, hold_until)) {
            held_ = HeldRequest{std::move(token), hold_until};
            return;
        }
        if (granted || after_disk) disk_is_slow_ = after_disk;
        if (granted)
            token.grants.push_back({core.config().self, core.own_key().incarnation,
                                    tied ? session->number : no_session});
        else if (after_disk)  // like a voter that is still silent: later, perhaps
            token.nacks.push_back({core.config().self, NackReason::recovering, nobody, Epoch{},
                                   core.timing().hop_wait});
        else
            token.nacks.push_back({core.config().self, vote.reason, vote.promise_holder,
                                   vote.promised_epoch, vote.remaining});
    }
    visit(token.walk, core.me());
    // Enough for the lease: straight home with it.
    const bool enough = !core.textbook() && 1 + token.grants.size() >= core.majority();
    if (enough && core.connected(owner, step.now) && hops_.send_to(core, step, owner, token))
        return;
    hops_.forward(core, step, std::move(token));
}

/// Reads the answers, and nobody does so again later: they are as old as the token's return, and a
/// voter whose session comes up after it is asked anew.
void Ring::own_request_back(Core& core, Step& step, CoordinatorToken token) {
    const Coordinator& request = token.request;
    if (core.textbook() || token.walk.owner_incarnation != core.own_key().incarnation ||
        core.role() == Role::follower || request.epoch != core.epoch())
        return;
    for (const TokenGrant& grant : token.grants)
        if (const auto voter = core.config().members.index(grant.voter);
            voter && *voter != core.me())
            core.on_grant(step, *voter,
                          Grant{token.walk.owner_incarnation, request.epoch, request.lease,
                                request.stamp, grant.tied_session, grant.voter_incarnation});
    for (const TokenNack& nack : token.nacks)
        if (const auto voter = core.config().members.index(nack.voter);
            voter && *voter != core.me())
            core.on_nack(step, *voter,
                         Nack{token.walk.owner_incarnation, request.epoch, nack.reason,
                              nack.promise_holder, nack.promised_epoch, nack.remaining, false});
    own_request_onward(core, step, std::move(token));
}

void Ring::own_request_onward(Core& core, Step& step, CoordinatorToken token) {
    if (token.walk.owner_incarnation != core.own_key().incarnation ||
        token.walk.round != own_request_round_ || core.role() != Role::candidate)
        return;
    token.walk.path = {core.me()};
    if (!hops_.forward(core, step, std::move(token))) core.abandon(step, core.timing().hop_wait);
}

void Ring::on_token_ack(Core&, Step&, Index from, const TokenAck& ack) { hops_.on_ack(from, ack); }

// ---- Timers and conditions.

void Ring::advance(Core& core, Step& step) {
    for (AnyToken& stranded : hops_.resend_failed(core, step)) {
        if (walk_of(stranded).owner != core.config().self) continue;
        if (auto* token = std::get_if<Token>(&stranded)) own_token_back(core, step, *token);
        if (auto* token = std::get_if<CoordinatorToken>(&stranded))
            own_request_onward(core, step, std::move(*token));
    }
    if (core.answer_call(step)) stand(core, step);

    // Also while this node waits for its own disk: what it has of others' must not wait with it.
    if (held_ && (!core.promise().live(step.now) || due(step.now, held_->until))) {
        HeldRequest held = std::move(*held_);
        held_.reset();
        vote_and_pass(core, step, std::move(held.token), held.until);
    }
    if (parked_) {
        const LeaderView leader = core.first_hand(step.now);
        if (!leader.leader || leader.leader == parked_->walk.owner) {
            const Token token = *parked_;
            parked_.reset();
            pass_or_swallow(core, step, token);
        }
    }
    if (core.called()) return;
    if (own_round_ != 0 && (core.role() != Role::follower || core.leader_known(step.now))) {
        own_round_ = 0;
        round_until_ = never;
    }
    if (own_round_ != 0 && due(step.now, round_until_))
        round_failed(core, step, core.rng().up_to(core.timing().ring_wait / 4));
    if (own_round_ == 0 && core.may_start(step.now)) start(core, step, "no leader is known");
}

void Ring::collect_wakes(WakeTime& wake) const {
    wake.timer(round_until_);
    wake.timer(able_after_);
    if (held_) wake.timer(held_->until);
    hops_.collect_wakes(wake);
}

}  // namespace bullring::protocol
