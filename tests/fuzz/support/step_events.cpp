// The events of the node, and the sound peers' part when the others have gone.
#include <algorithm>

#include "tests/fuzz/step_host.hpp"

namespace bullring::fuzz {

// ---- What can happen.

/// Mostly both clocks run as they should; either may stand still or be slewed.
void Host::pass_time() {
    std::int64_t ns = 0;
    switch (input_.below(6)) {
        case 0: ns = std::min(node_->until_wake(seen_.now), seconds(100)).ns; break;
        case 1: ns = timing().heartbeat.ns; break;
        case 2: ns = timing().suspect_after.ns; break;
        case 3: ns = timing().promise(timing().lease).ns; break;
        default: ns = input_.magnitude(); break;
    }
    ns = std::max<std::int64_t>(ns, 0);
    std::int64_t raw = ns;
    std::int64_t boottime = ns;
    switch (input_.below(8)) {
        case 0: raw = 0; break;
        case 1: raw += ns / 1000; break;
        case 2: boottime -= ns / 12; break;
        case 3: boottime += ns / 12; break;
        default: break;
    }
    seen_.now = {seen_.now.boottime_ns + boottime, seen_.now.raw_ns + raw};
    step(Wake{});
}

void Host::accept(Sender from, const Hello& hello) {
    const SessionId session{++last_session_};
    accepted_[session] = {from, hello.session,
                          std::min(hello.version_highest, config().wire_highest)};
    step(HelloReceived{session, hello, {"node", "peer"}});
}

void Host::dial(Peer& peer) {
    if (peer.dialled) return;
    const SessionId session{++last_session_};
    peer.dialled = session;
    dialled_[session] = {peer.sender.id};
    seen_.sessions.push_back(session);
    step(protocol::Dialled{peer.sender.id, session, {"node", "peer"}});
}

void Host::answer_dial(SessionId session, const Message& answer) {
    const auto* const ack = std::get_if<HelloAck>(&answer);
    dialled_.at(session).up = ack != nullptr;
    step(Receive{session, answer});
    if (ack != nullptr && (ack->version < version_lowest || ack->version > config().wire_highest))
        expect(!dialled_.contains(session), "I20: a version that was not offered");
}

void Host::hear() {
    if (accepted_.empty()) return;
    const auto found = any_of(accepted_);
    if (!found->second.answered) return;
    const Sender from = found->second.from;
    const auto peer = peers_.find(from.id);
    const SessionId back = peer == peers_.end() ? no_session : peer->second.dialled;
    const auto message = speaker_.later(from, back);
    if (!message) return;
    note_heard(*message, from);
    step(Receive{found->first, *message});
}

void Host::end_session(SessionId session, SessionEnd how) {
    if (const auto found = accepted_.find(session); found != accepted_.end()) {
        const Accepted ended = found->second;
        accepted_.erase(found);
        // I8: where notices count, anybody can forge a FIN.
        if (how == SessionEnd::eof && config().fast_release == FastRelease::fin)
            std::erase_if(given_, [&](const Given& given) {
                return given.tied == ended.number && given.holder.id == ended.from.id &&
                       given.holder.incarnation == ended.from.incarnation;
            });
        return step(SessionEnded{session, how});
    }
    Dialled& ended = dialled_.at(session);
    if (ended.over) return;
    ended.over = true;
    Peer& peer = peers_.at(ended.to);
    if (peer.dialled == session) peer.dialled = no_session;
    if (how == SessionEnd::reset || how == SessionEnd::truncated || how == SessionEnd::timeout)
        dialled_.erase(session);
    step(SessionEnded{session, how});
}

void Host::disk_answers() {
    if (!writing_) return;
    disk_ = *std::exchange(writing_, std::nullopt);
    step(Persisted{*disk_});
}

void Host::tell_task() {
    if (!task_) return;
    const bool by_itself = !task_stopping_;
    const Epoch ended = std::exchange(task_, Epoch{});
    task_stopping_ = false;
    step(TaskEnded{ended, by_itself, by_itself && input_.flag()});
}

/// Of a run that has ended: the last one, which may be the one that is heard, or one long ago.
void Host::tell_of_death(Peer& peer) {
    Incarnation dead = peer.sender.incarnation;
    if (input_.flag()) dead.value -= std::min<std::uint64_t>(dead.value, 100);
    if (dead == peer.sender.incarnation) peer.sender.incarnation.value += 100;
    if (config().fast_release == FastRelease::notice) {
        peer.buried = dead;
        peer.buried_at = seen_.now;
        const HolderKey holder{peer.sender.id, dead};
        std::erase_if(given_, [&](const Given& given) { return given.holder == holder; });
    }
    step(Died{peer.sender.id, dead});
}

void Host::one_event() {
    if (stopped_) return start();
    switch (input_.below(32)) {
        case 0:
        case 1:
        case 2: return pass_time();
        case 3:
        case 4: return disk_answers();
        case 5: return tell_task();
        case 6:
            if (Peer* const peer = any_peer()) {
                const SessionId number{input_.number()};
                Hello hello = speaker_.hello(peer->sender, number);
                if (const auto said = speaker_.forged_as(std::move(hello), peer->sender))
                    accept({said->id, said->incarnation}, *said);
            }
            return;
        case 7:
        case 8:
            if (Peer* const peer = any_peer())
                accept(peer->sender, speaker_.hello(peer->sender, {input_.number()}));
            return;
        case 9:
        case 10:
            if (Peer* const peer = any_peer()) dial(*peer);
            return;
        case 11:
        case 12:
            for (auto& [session, dialled] : dialled_) {
                if (dialled.up || dialled.over) continue;
                const Sender peer = peers_.at(dialled.to).sender;
                if (input_.below(8) == 0) return answer_dial(session, Refused{"id", "1", "2"});
                const auto ack = speaker_.forged_as(speaker_.hello_ack(peer), peer);
                if (ack && ack->id == peer.id) return answer_dial(session, *ack);
                return;
            }
            return;
        case 13: {
            if (accepted_.empty()) return;
            constexpr SessionEnd ends[] = {SessionEnd::eof, SessionEnd::reset, SessionEnd::timeout,
                                           SessionEnd::truncated, SessionEnd::protocol};
            const SessionEnd how = input_.one_of(ends);
            return end_session(any_of(accepted_)->first, how);
        }
        case 14: {
            if (dialled_.empty()) return;
            constexpr SessionEnd ends[] = {SessionEnd::eof, SessionEnd::reset, SessionEnd::timeout,
                                           SessionEnd::truncated, SessionEnd::overflow};
            const SessionEnd how = input_.one_of(ends);
            return end_session(any_of(dialled_)->first, how);
        }
        case 15: return crash();
        case 16: return step(Stalled{});
        case 17: {
            const Peer* const peer = any_peer();
            const NodeId to = peer != nullptr && input_.flag() ? peer->sender.id : nobody;
            return step(ResignRequested{to, {Asker::observer, input_.number()}, input_.flag()});
        }
        case 18: return step(HealthChanged{healthy_ = !healthy_});
        case 19: return step(Standing{willing_ = !willing_});
        case 20: return step(Tying{input_.flag()});
        case 21:
            if (input_.below(8) != 0 || std::exchange(stop_asked_, true)) return;
            return step(StopRequested{});
        case 22:
            // The process of that peer is another one from now on.
            if (Peer* const peer = any_peer()) peer->sender.incarnation.value += 100;
            return;
        case 23:
            if (Peer* const peer = any_peer()) tell_of_death(*peer);
            return;
        default: return hear();
    }
}

// ---- Afterwards.

/// The liars have gone. P(lease-max) later nothing that they said binds anybody, and sound peers
/// that may not lead themselves grant what they are asked for.
void Host::check_recovers() {
    if (stopped_ || stop_asked_) crash();
    while (!accepted_.empty()) end_session(accepted_.begin()->first, SessionEnd::reset);
    while (
        std::any_of(dialled_.begin(), dialled_.end(), [](const auto& d) { return !d.second.over; }))
        for (const auto& [session, dialled] : std::map(dialled_))
            if (dialled_.contains(session)) end_session(session, SessionEnd::reset);
    if (!healthy_) step(HealthChanged{healthy_ = true});
    if (!willing_) step(Standing{willing_ = true});
    seen_.now = seen_.now + timing().promise(timing().lease_max);
    step(Wake{});
    std::map<SessionId, Sender> sound;
    const Duration patience = config().bootstrap_wait + seconds(30);
    const Instant end = seen_.now + patience;
    bool introduced = false;
    while (!due(seen_.now, end)) {
        seen_.now = seen_.now + timing().heartbeat;
        step(Wake{});
        disk_answers();
        if (task_stopping_) tell_task();
        for (auto& [id, peer] : peers_) {
            if (!introduced) {
                peer.sender.incarnation.value += 1000;
                accept(peer.sender, speaker_.hello(peer.sender, {7}));
                sound[SessionId{last_session_}] = peer.sender;
            }
            if (!peer.dialled) {
                dial(peer);
                if (dialled_.contains(peer.dialled))
                    answer_dial(peer.dialled, speaker_.hello_ack(peer.sender));
            }
        }
        introduced = true;
        for (const auto& [session, from] : sound) {
            if (!accepted_.contains(session)) continue;
            Heartbeat heartbeat = speaker_.heartbeat();
            heartbeat.eligible = false;
            step(Receive{session, heartbeat});
            const auto say = [&](const Message& message) {
                note_heard(message, from);
                step(Receive{session, message});
            };
            if (config().algorithm == Algorithm::bully) {
                step(Receive{session, Decline{seen_.attempt}});
                say(Grant{seen_.incarnation, seen_.request.epoch, seen_.request.lease,
                          seen_.request.stamp, no_session, from.incarnation});
            } else {
                const auto home = [&](auto token) {
                    if (token.walk.owner != config().self) return;
                    token.walk.step += 1;
                    token.walk.visited.insert(*config().members.index(from.id));
                    if constexpr (requires { token.grants; })
                        token.grants.push_back({from.id, from.incarnation, no_session});
                    say(token);
                };
                if (const auto token = std::exchange(seen_.token, std::nullopt)) home(*token);
                if (const auto token = std::exchange(seen_.coordinator_token, std::nullopt))
                    home(*token);
            }
            disk_answers();
        }
        if (node_->view(seen_.now).role == Role::leader) return;
    }
    broken(node_->view(seen_.now).why, std::source_location::current());
}

}  // namespace bullring::fuzz
