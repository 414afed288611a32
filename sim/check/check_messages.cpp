// The checks that messages alone allow. I11: no epoch is granted or proposed that the disk does not
// cover. I20: both ends of a session speak the highest version that both know. R9: no message makes
// nonsense durable. L5: tokens die. Counts messages and events, too.
#include <algorithm>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

void Checks::check_message(const World& world, HostIndex h, Instant now, const Send& send) {
    std::visit(
        [&](const auto& m) {
            using M = std::decay_t<decltype(m)>;
            if constexpr (std::is_same_v<M, Grant>) {
                if (of_[h].event_was_persisted) coverage_.count(Seen::grant_after_disk);
                check_grant_tag(world, h, m);
            } else if constexpr (std::is_same_v<M, Coordinator>) {
                check_request(world, h, m);
            } else if constexpr (std::is_same_v<M, Nack>) {
                const HostIndex holder = world.connection_of(send.session).ends[acceptor_side].host;
                check_stale_members(world, h, now, world.host(holder).id, m);
            } else if constexpr (std::is_same_v<M, Resign>) {
                check_resign(world, h, m);
            } else if constexpr (std::is_same_v<M, HelloAck>) {
                check_version(world, h, send.session, m.version);
            } else if constexpr (std::is_same_v<M, TokenAck>) {
                // It has read it, and did not ignore it.
                if (OfHost::Token* known = token_at(h, m.owner, m.owner_incarnation, m.round))
                    known->step = std::max(known->step, m.step);
            } else if constexpr (std::is_same_v<M, Token>) {
                check_walk(world, h, m.walk);
            } else if constexpr (std::is_same_v<M, CoordinatorToken>) {
                check_walk(world, h, m.walk);
                if (m.walk.owner_incarnation == world.host(h).incarnation)
                    check_request(world, h, m.request);
            }
        },
        send.message);
    if (world.settings().quorum == QuorumMode::majority)
        if (const GivenPromise* given = ledger_.note_send(world, h, now, send))
            check_given(world, h, now, *given);
    count_message(h, send);
}

/// The last write of a clean stop lowers hw: an epoch has to be covered by that, too.
void Checks::check_disk(const World& world, HostIndex h, Epoch epoch) {
    const Host& host = world.host(h);
    const Epoch on_disk = host.disk.file ? host.disk.file->hw : Epoch{};
    const Epoch covered = host.writing ? std::min(on_disk, host.writing->hw) : on_disk;
    if (covered < epoch)
        fail(world, "I11",
             fmt::format("node {} uses epoch {}, but its disk says {}, or will say so",
                         host.id.value, epoch.value, covered.value));
}

void Checks::check_durable(const World& world, HostIndex h, const Durable& durable) {
    constexpr std::uint64_t believed = std::uint64_t{1} << 54U;
    constexpr std::uint64_t each_second = std::uint64_t{1} << 20U;
    constexpr std::uint64_t reserve = 1024;
    const std::uint64_t seconds = 1 + static_cast<std::uint64_t>(world.now() / sec);
    if (durable.hw.value > believed + seconds * each_second + reserve)
        fail(world, "R9",
             fmt::format("node {} makes epoch {} durable, which no election can have needed",
                         world.host(h).id.value, durable.hw.value));
    const Timing& timing = world.config(h).timing;
    const auto& file = world.host(h).disk.file;
    const Duration before = file ? file->promised_max : Duration{0};
    if (durable.promised_max > std::max(before, timing.promise(timing.lease_max)))
        fail(world, "R9",
             fmt::format("node {} makes it durable that it may have promised itself for {} ns",
                         world.host(h).id.value, durable.promised_max.ns));
}

void Checks::check_version(const World& world, HostIndex h, SessionId session,
                           std::uint16_t version) {
    const HostIndex dialler = world.connection_of(session).ends[dialler_side].host;
    const std::uint16_t mine = world.config(h).wire_highest;
    const std::uint16_t yours = world.config(dialler).wire_highest;
    if (mine != yours) coverage_.count(Seen::wires_differ);
    if (version == std::min(mine, yours)) return;
    fail(world, "I20",
         fmt::format("node {}, which speaks {} at most, answers node {}, which speaks {} at most, "
                     "that {} is spoken",
                     world.host(h).id.value, mine, world.host(dialler).id.value, yours, version));
}

void Checks::check_walk(const World& world, HostIndex h, const Walk& walk) {
    const std::size_t hops_max = 3 * (world.members() - 1);
    if (walk.step > hops_max)
        fail(world, "L5",
             fmt::format("node {} sends the token of {} for its hop {}; {} are possible",
                         world.host(h).id.value, walk.owner.value, walk.step, hops_max));
    OfHost::Token* known = token_at(h, walk.owner, walk.owner_incarnation, walk.round);
    if (known == nullptr || known->of_many_runs || walk.step >= 64) return;
    const std::uint64_t bit = std::uint64_t{1} << walk.step;
    if (walk.step <= known->step && (known->sent_before & bit) == 0)
        fail(world, "L5",
             fmt::format("node {} sends the token of {} for its hop {}, and has had it at hop {}: "
                         "a copy that it has to drop",
                         world.host(h).id.value, walk.owner.value, walk.step, known->step));
    if ((known->sent_before & bit) != 0) coverage_.count(Seen::token_sent_again);
    known->sent_before |= bit;
}

/// The newest token of this round that `h` knows; nullptr: it knows a newer one of that run.
Checks::OfHost::Token* Checks::token_at(HostIndex h, NodeId owner, Incarnation incarnation,
                                        std::uint64_t round) {
    std::vector<OfHost::Token>& tokens = of_[h].tokens;
    const auto known = std::find_if(tokens.begin(), tokens.end(), [&](const auto& token) {
        return token.owner == owner && token.incarnation == incarnation;
    });
    if (known == tokens.end()) {
        const auto runs = std::count_if(tokens.begin(), tokens.end(),
                                        [&](const auto& token) { return token.owner == owner; });
        tokens.push_back({owner, incarnation, round, 0, 0, false});
        if (runs >= 2)
            for (OfHost::Token& token : tokens)
                if (token.owner == owner) token.of_many_runs = true;
        return &tokens.back();
    }
    if (known->round < round) *known = {owner, incarnation, round, 0, 0, known->of_many_runs};
    return known->round == round ? &*known : nullptr;
}

// ---- Counting.

void Checks::count_message(HostIndex h, const Send& send) {
    OfHost& of = of_[h];
    std::visit(
        [&](const auto& m) {
            using M = std::decay_t<decltype(m)>;
            if constexpr (std::is_same_v<M, Nack>) {
                constexpr std::array<Seen, 7> of_reason{
                    Seen::nack_busy,          Seen::nack_busy,     Seen::nack_stale,
                    Seen::nack_recovering,    Seen::nack_reserved, Seen::nack_too_long,
                    Seen::nack_unknown_holder};
                // Nobody lies in the swarm, so no epoch is too high there.
                if (m.reason <= NackReason::unknown_holder)
                    coverage_.count(of_reason[static_cast<std::size_t>(m.reason)]);
                if (m.parked) {
                    coverage_.count(Seen::request_parked);
                    if (of.parked.size() > 8) of.parked.erase(of.parked.begin());
                    of.parked.push_back({m.holder_incarnation, m.epoch});
                }
            } else if constexpr (std::is_same_v<M, Grant>) {
                std::erase_if(of.parked, [&](const OfHost::Parked& parked) {
                    if (parked.of != m.holder_incarnation || parked.epoch != m.epoch) return false;
                    coverage_.count(Seen::parked_request_served);
                    return true;
                });
            } else if constexpr (std::is_same_v<M, HelloAck>) {
                if (m.recall.answer == Recall::Answer::none) coverage_.count(Seen::recall_none);
                if (m.recall.answer == Recall::Answer::held) coverage_.count(Seen::recall_held);
            } else if constexpr (std::is_same_v<M, Ok>) {
                coverage_.count(Seen::message_ok);
            } else if constexpr (std::is_same_v<M, Decline>) {
                coverage_.count(Seen::message_decline);
            } else if constexpr (std::is_same_v<M, LeaderIs>) {
                coverage_.count(Seen::message_leader);
            } else if constexpr (std::is_same_v<M, Token>) {
                coverage_.count(Seen::message_token);
            } else if constexpr (std::is_same_v<M, CoordinatorToken>) {
                coverage_.count(Seen::message_coordinator_token);
                for (const TokenNack& nack : m.nacks)
                    if (nack.reason == NackReason::recovering)
                        coverage_.count(Seen::nack_recovering);
            }
        },
        send.message);
}

void Checks::count_event(const World& world, HostIndex h, const Event& event) {
    if (ledger_.released_by_eof()) coverage_.count(Seen::release_by_fin);
    if (ledger_.released_by_notice()) coverage_.count(Seen::release_by_notice);
    if (ledger_.released_by_resign()) coverage_.count(Seen::release_by_resign);
    if (const auto* ended = std::get_if<SessionEnded>(&event)) {
        switch (ended->how) {
            case SessionEnd::eof: coverage_.count(Seen::end_by_eof); break;
            case SessionEnd::truncated:
            case SessionEnd::reset: coverage_.count(Seen::end_by_reset); break;
            case SessionEnd::timeout: coverage_.count(Seen::end_by_timeout); break;
            case SessionEnd::overflow: coverage_.count(Seen::end_by_overflow); break;
            case SessionEnd::protocol: coverage_.count(Seen::end_by_protocol); break;
        }
        if (World::side_of(ended->session) == dialler_side &&
            world.connection_of(ended->session).ends[dialler_side].open)
            coverage_.count(Seen::session_lingers);
        return;
    }
    const auto* receive = std::get_if<Receive>(&event);
    if (receive == nullptr) return;
    if (const auto* resign = std::get_if<Resign>(&receive->message))
        of_[h].successor = resign->successor;
    const auto* request = std::get_if<Coordinator>(&receive->message);
    if (request != nullptr && request->renew &&
        request->epoch < world.host(h).node->parts().voter.promise().vmax())
        coverage_.count(Seen::renewal_below_floor);
}

void Checks::count_action(const World& world, HostIndex h, const Action& action) {
    if (const auto* elected = std::get_if<Elected>(&action)) {
        coverage_.count(Seen::elected);
        if (world.settings().quorum == QuorumMode::none)
            coverage_.count(Seen::elected_without_quorum);
        constexpr std::uint64_t by_clock = std::uint64_t{1} << 40U;
        if (elected->epoch.value > by_clock) coverage_.count(Seen::elected_by_clock_epoch);
        if (of_[h].successor) coverage_.count(Seen::elected_successor);
        for (OfHost& of : of_) of.successor = nobody;
    } else if (const auto* deposed = std::get_if<Deposed>(&action)) {
        switch (deposed->reason) {
            case DeposedReason::resigned: coverage_.count(Seen::deposed_resigned); break;
            case DeposedReason::preempted: coverage_.count(Seen::deposed_preempted); break;
            case DeposedReason::lease_expired: coverage_.count(Seen::deposed_lapsed); break;
            case DeposedReason::stalled: coverage_.count(Seen::deposed_stalled); break;
            case DeposedReason::unhealthy: coverage_.count(Seen::deposed_unhealthy); break;
            case DeposedReason::task_ended: coverage_.count(Seen::deposed_task_ended); break;
            case DeposedReason::task_failed: coverage_.count(Seen::deposed_task_failed); break;
            case DeposedReason::stopped: coverage_.count(Seen::deposed_stopped); break;
            case DeposedReason::higher_rank: coverage_.count(Seen::deposed_by_higher_rank); break;
        }
    } else if (const auto* refused = std::get_if<HandshakeRefused>(&action)) {
        coverage_.count(Seen::handshake_refused);
        if (differs_in(refused->difference, Difference::cluster_id))
            coverage_.count(Seen::identity_refused);
    }
}

}  // namespace bullring::sim
