#include "sim/check/ledger.hpp"

#include <algorithm>
#include <variant>

namespace bullring::sim {

using namespace protocol;

Duration Ledger::promise(Duration lease, std::uint32_t rho_ppm) {
    constexpr std::int64_t million = 1'000'000;
    const std::int64_t over = million + rho_ppm;
    const std::int64_t under = million - rho_ppm;
    const std::int64_t whole = lease.ns / under * over;
    const std::int64_t rest = lease.ns % under * over;
    return {whole + (rest + under - 1) / under + 1};
}

namespace {

/// When a second process with the sender's id was listened to last, and is silent, what still comes
/// from the first one is dropped and its session closed (§3).
bool listens_to(const World& world, HostIndex h, Instant now, SessionId session) {
    if (World::side_of(session) == dialler_side) return true;
    const Parts& node = world.host(h).node->parts();
    const AcceptedSession* accepted = node.sessions.accepted(session);
    if (accepted == nullptr) return false;
    const Peer& peer = node.peers[accepted->peer];
    return peer.incarnation == accepted->incarnation || node.peers.heard(accepted->peer, now);
}

/// The process that has granted this, or the member whose earlier run has.
std::optional<HostIndex> voter_of(const World& world, HostIndex holder, const TokenGrant& grant) {
    if (const auto h = world.host_of(grant.voter_incarnation)) return h;
    return world.host_of(grant.voter, world.host(holder).site);
}

}  // namespace

void Ledger::before_step(const World& world, HostIndex h, Instant now, const Event& event) {
    released_by_eof_ = released_by_resign_ = released_by_notice_ = false;
    token_read_ = {};
    const auto* hello = std::get_if<HelloReceived>(&event);
    answers_recovering_ = hello != nullptr && hello->hello.recovering;
    if (const auto* ended = std::get_if<SessionEnded>(&event))
        return session_ended(world, h, now, *ended);
    if (const auto* died_event = std::get_if<Died>(&event)) return died(world, h, now, *died_event);
    const auto* receive_event = std::get_if<Receive>(&event);
    if (receive_event == nullptr || !listens_to(world, h, now, receive_event->session)) return;
    if (const auto* resign = std::get_if<Resign>(&receive_event->message))
        return resigned(world, h, now, receive_event->session, *resign);
    const Host& host = world.host(h);
    const Connection& c = world.connection_of(receive_event->session);
    if (const auto* ack = std::get_if<HelloAck>(&receive_event->message)) {
        acknowledged_[h][world.member_of(c.ends[acceptor_side].host)] = ack->incarnation;
        return;
    }
    if (const auto* grant = std::get_if<Grant>(&receive_event->message)) {
        if (grant->holder_incarnation != host.incarnation) return;
        Coordinator request;
        request.epoch = grant->epoch;
        request.lease = grant->lease;
        request.stamp = grant->stamp;
        return receive(
            world, h, now,
            {c.ends[dialler_side].host, grant->epoch, {}, grant->tied_session, grant->tag},
            grant->voter_incarnation, request);
    }
    if (const auto* token = std::get_if<Token>(&receive_event->message)) {
        if (token->walk.owner_incarnation == host.incarnation) comes_home(h, token->walk);
        return;
    }
    if (const auto* token = std::get_if<CoordinatorToken>(&receive_event->message)) {
        token_read_ = {host.incarnation, token->walk.owner_incarnation, token->walk.round};
        if (token->walk.owner_incarnation != host.incarnation) return;
        if (!comes_home(h, token->walk)) return;
        for (const TokenGrant& grant : token->grants) {
            const auto voter = voter_of(world, h, grant);
            if (!voter) continue;
            receive(world, h, now,
                    {*voter, token->request.epoch, {}, grant.tied_session, token->request.tag},
                    grant.voter_incarnation, token->request);
        }
    }
}

bool Ledger::comes_home(HostIndex owner, const Walk& walk) {
    // Of both kinds: a request that is overtaken by the owner's next election token is dropped.
    const std::pair<std::uint64_t, std::uint32_t> hop{walk.round, walk.step};
    if (hop <= own_token_[owner]) return false;
    own_token_[owner] = hop;
    return true;
}

void Ledger::receive(const World& world, HostIndex h, Instant now, const ReceivedGrant& grant,
                     Incarnation voter, const Coordinator& request) {
    // Only the process that answers at the voter's address can vote (R3).
    if (acknowledged_[h][world.member_of(grant.voter)] != voter) return;
    // A voter grants only what was asked for.
    if (request.lease > world.config(h).timing.lease ||
        request.stamp.boottime_ns > now.boottime_ns || request.stamp.raw_ns > now.raw_ns)
        return;
    const Instant end = request.stamp + request.lease;
    if (!lease_valid(now, end)) return;
    const Barrier& barrier = barriers_[h][world.member_of(grant.voter)];
    if (request.stamp.boottime_ns <= barrier.asked.boottime_ns ||
        request.stamp.raw_ns <= barrier.asked.raw_ns)
        return;
    // No grant counts that the holder's own FIN may release. (One that is tied to a session in
    // error may come late, by another session, and does count.)
    if (grant.tied) {
        const End& tied = world.connection_of(grant.tied).ends[dialler_side];
        if (!tied.open && !tied.in_error) return;
    }
    std::vector<ReceivedGrant>& all = received_[h];
    // A member has one vote, whichever of the processes with its id has given it.
    const auto same_voter = [&](const ReceivedGrant& other) {
        return world.member_of(other.voter) == world.member_of(grant.voter);
    };
    // Nor does a grant count that ends no later than another one of the same voter.
    for (const ReceivedGrant& other : all)
        if (same_voter(other) && other.epoch == grant.epoch && other.tag >= grant.tag &&
            end.boottime_ns <= other.end.boottime_ns && end.raw_ns <= other.end.raw_ns)
            return;
    std::erase_if(all, [&](const ReceivedGrant& old) {
        // A voter that grants again unties its earlier grant from its session.
        return !lease_valid(now, old.end) || old.epoch < grant.epoch ||
               (same_voter(old) && old.epoch == grant.epoch && old.tag <= grant.tag &&
                old.end.boottime_ns <= end.boottime_ns && old.end.raw_ns <= end.raw_ns);
    });
    all.push_back({grant.voter, grant.epoch, end, grant.tied, grant.tag, voter,
                   request.stamp == barrier.reported});
}

void Ledger::session_ended(const World& world, HostIndex h, Instant now,
                           const SessionEnded& ended) {
    if (World::side_of(ended.session) != acceptor_side) return;
    const Instant unbroken = world.host(h).clock.unbroken(now);
    std::erase_if(given_[h], [&](GivenPromise& promise) {
        if (promise.tied != ended.session) return false;
        if (ended.how != SessionEnd::eof) {
            promise.tie_lost = true;
            return false;
        }
        if (!promise_over(unbroken, promise.end)) released_by_eof_ = true;
        return true;
    });
}

/// Only what was promised to that very run, and only where notices count.
void Ledger::died(const World& world, HostIndex h, Instant now, const Died& died) {
    if (world.config(h).fast_release != FastRelease::notice) return;
    const Instant unbroken = world.host(h).clock.unbroken(now);
    std::erase_if(given_[h], [&](const GivenPromise& promise) {
        if (promise.holder != HolderKey{died.id, died.incarnation}) return false;
        if (!promise_over(unbroken, promise.end)) released_by_notice_ = true;
        return true;
    });
}

void Ledger::resigned(const World& world, HostIndex h, Instant now, SessionId session,
                      const Resign& resign) {
    const Host& sender = world.host(world.connection_of(session).ends[dialler_side].host);
    const Instant unbroken = world.host(h).clock.unbroken(now);
    const Connection& c = world.connection_of(session);
    if (sender.run == c.ends[dialler_side].run) {
        Epoch& highest = resigned_[h][sender.incarnation];
        highest = std::max(highest, resign.epoch);
    }
    std::erase_if(given_[h], [&](const GivenPromise& promise) {
        // The incarnation that dialled this session, which may be dead by now.
        // Whoever resigns an epoch has nothing left of earlier ones.
        if (promise.holder.id != sender.id || promise.epoch > resign.epoch) return false;
        if (sender.run == c.ends[dialler_side].run &&
            promise.holder.incarnation != sender.incarnation)
            return false;
        if (!promise_over(unbroken, promise.end)) released_by_resign_ = true;
        return true;
    });
}

const GivenPromise* Ledger::note_send(const World& world, HostIndex h, Instant now,
                                      const Send& send) {
    const Host& host = world.host(h);
    if (const auto* ack = std::get_if<HelloAck>(&send.message)) {
        note_answer(world, h, now, send.session, *ack);
        return nullptr;
    }
    if (const auto* request = std::get_if<Coordinator>(&send.message)) {
        last_asked_[h] = request->stamp;
        return nullptr;
    }
    if (const auto* grant = std::get_if<Grant>(&send.message)) {
        const Connection& c = world.connection_of(send.session);
        GivenPromise promise;
        promise.holder = {world.host(c.ends[acceptor_side].host).id, grant->holder_incarnation};
        promise.epoch = grant->epoch;
        if (grant->tied_session) promise.tied = World::other_end(grant->tied_session);
        return give(world, h, now, promise, grant->lease);
    }
    const auto* token = std::get_if<CoordinatorToken>(&send.message);
    if (token == nullptr) return nullptr;
    if (token->walk.owner_incarnation == host.incarnation)
        last_asked_[h] = later(last_asked_[h], token->request.stamp);
    for (const TokenGrant& grant : token->grants) {
        if (grant.voter != host.id || grant.voter_incarnation != host.incarnation) continue;
        const OnToken mark{host.incarnation, token->walk.owner_incarnation, token->walk.round};
        if (!granted_[h].insert(mark).second) return nullptr;
        GivenPromise promise;
        promise.holder = {token->walk.owner, token->walk.owner_incarnation};
        promise.epoch = token->request.epoch;
        if (grant.tied_session) promise.tied = World::other_end(grant.tied_session);
        if (token_read_ == mark) return give(world, h, now, promise, token->request.lease);
        // The token was held for a while: the promise is as old as the vote, and may be over.
        const Promise& kept = host.node->parts().voter.promise();
        if (kept.key() != promise.holder || kept.epoch() != promise.epoch) return nullptr;
        GivenPromise* given = give(world, h, now, promise, token->request.lease);
        given->end = earlier(given->end, host.clock.unbroken(kept.end()));
        return given;
    }
    return nullptr;
}

void Ledger::note_answer(const World& world, HostIndex h, Instant now, SessionId session,
                         const HelloAck& ack) {
    if (!answers_recovering_) return;
    const End& dialler = world.connection_of(session).ends[dialler_side];
    const Host& voter = world.host(dialler.host);
    barriers_[h][world.member_of(dialler.host)] = {last_asked_[h], now};
    if (ack.recall.answer == Recall::Answer::cannot_tell) return;
    if (voter.run == dialler.run) recalled_[h].insert(voter.incarnation);
}

void Ledger::forget_earlier_runs(const World& world, HostIndex voter) {
    std::erase_if(given_[voter], [&](const GivenPromise& promise) {
        return promise.run != world.host(voter).run;
    });
}

void Ledger::void_earlier_runs(const World& world, HostIndex voter) {
    for (const Incarnation run : gave_[voter])
        if (run != world.host(voter).incarnation) void_.insert(run);
}

GivenPromise* Ledger::give(const World& world, HostIndex voter, Instant now,
                           const GivenPromise& promise, Duration lease) {
    const Host& host = world.host(voter);
    const Instant unbroken = host.clock.unbroken(now);
    std::vector<GivenPromise>& all = given_[voter];
    std::erase_if(all, [&](const GivenPromise& old) { return promise_over(unbroken, old.end); });
    GivenPromise& stored = all.emplace_back(promise);
    stored.end = unbroken + Ledger::promise(lease, world.settings().rho_ppm);
    stored.run = host.run;
    if (host.disk.file) stored.list = host.disk.file->members;
    gave_[voter].insert(host.incarnation);
    stored.lease = lease;
    return &stored;
}

}  // namespace bullring::sim
