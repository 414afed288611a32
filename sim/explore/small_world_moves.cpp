// Which moves are possible. Their order is part of a search's outcome: of two shortest paths the
// one that was found first is reported.
#include <algorithm>

#include "sim/explore/small_world.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

bool marked(std::uint8_t peers, std::size_t node) { return (std::size_t{peers} >> node & 1U) != 0; }

/// Those that the leader's list is not as they would have it.
std::vector<MoveKind> changes_of(const Node& leader, std::size_t about) {
    const Membership& list = leader.parts().list();
    const MemberEntry* const member = list.find({about + 1});
    if (list.empty()) return {};
    if (member == nullptr) return {MoveKind::add};
    return {MoveKind::remove, member->votes ? MoveKind::demote : MoveKind::promote};
}

}  // namespace

void SmallWorld::moves(const WorldState& state, std::vector<Move>& out) const {
    out.clear();
    add_arrivals(state, out);
    add_own_moves(state, out);
    add_time(state, out);
    if (state.faults_left > 0) add_faults(state, out);
}

bool SmallWorld::possible(const WorldState& state, const Move& move) const {
    std::vector<Move> all;
    moves(state, all);
    return std::find(all.begin(), all.end(), move) != all.end();
}

void SmallWorld::add_arrivals(const WorldState& state, std::vector<Move>& out) const {
    for (const Session& session : state.sessions) {
        if (!session.to_acceptor.empty() && state.hosts[session.name.acceptor].runs_now())
            out.push_back({MoveKind::deliver, session.name});
        if (!session.to_dialler.empty() && state.hosts[session.name.dialler].runs_now())
            out.push_back({MoveKind::answer, session.name});
    }
}

void SmallWorld::add_own_moves(const WorldState& state, std::vector<Move>& out) const {
    for (std::size_t i = 0; i < state.hosts.size(); ++i) {
        const Host& host = state.hosts[i];
        if (!host.node) out.push_back(move_of(MoveKind::restart, i));
        if (host.paused) out.push_back(move_of(MoveKind::resume, i));
        if (!host.runs_now()) continue;
        if (host.writing) out.push_back(move_of(MoveKind::disk, i));
        if (host.task_stopping) out.push_back(move_of(MoveKind::task, i));
        for (std::size_t peer = 0; peer < state.hosts.size(); ++peer) {
            if (host.node->parts().setup.members().find({peer + 1}) == nullptr) continue;
            // A paused process is connected to by its kernel; one that does not run is not.
            if (peer == i || marked(host.dialled, peer) || !state.hosts[peer].node) continue;
            const auto number = static_cast<std::uint16_t>(host.dials[peer] + 1);
            out.push_back(
                {MoveKind::dial,
                 {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(peer), number}});
        }
    }
}

RealTime SmallWorld::last_call(const WorldState& state) const {
    RealTime sent_first = no_time;
    for (const Session& session : state.sessions) {
        if (!session.to_acceptor.empty() && state.hosts[session.name.acceptor].runs_now())
            sent_first = std::min(sent_first, session.to_acceptor.front().sent_at);
        if (!session.to_dialler.empty() && state.hosts[session.name.dialler].runs_now())
            sent_first = std::min(sent_first, session.to_dialler.front().sent_at);
    }
    return sent_first == no_time ? no_time : sent_first + options_.delay_max.ns;
}

void SmallWorld::add_time(const WorldState& state, std::vector<Move>& out) const {
    RealTime next = no_time;
    for (const Host& host : state.hosts)
        if (host.runs_now()) next = std::min(next, host.wake_at);
    next = std::max(next, state.now);  // the timer of one that was paused is overdue
    const RealTime limit = last_call(state);
    if (next < no_time && (next == state.now || next <= limit)) {
        for (std::size_t i = 0; i < state.hosts.size(); ++i)
            if (state.hosts[i].runs_now() && state.hosts[i].wake_at <= next)
                out.push_back(move_of(MoveKind::wake, i));
    } else if (limit < no_time && limit > state.now) {
        out.push_back(move_of(MoveKind::wait, 0));
    }
}

void SmallWorld::add_faults(const WorldState& state, std::vector<Move>& out) const {
    const auto add = [&](MoveKind kind, const SessionName& name) {
        if (options_.fault_kinds.contains(kind)) out.push_back({kind, name});
    };
    for (std::size_t i = 0; i < state.hosts.size(); ++i) {
        if (!state.hosts[i].node) continue;
        const SessionName self{static_cast<std::uint8_t>(i), 0, 0};
        add(MoveKind::crash, self);
        add(MoveKind::power_off, self);
        if (state.hosts[i].paused) continue;
        add(MoveKind::pause, self);
        for (std::size_t as = 0; as < state.hosts.size(); ++as)
            if (as != i) add(MoveKind::greet, {self.dialler, static_cast<std::uint8_t>(as), 1});
        if (!leads(state, i)) continue;
        add(MoveKind::resign, self);
        for (std::size_t about = 0; about < state.hosts.size(); ++about)
            for (const MoveKind change : changes_of(*state.hosts[i].node, about))
                add(change, {self.dialler, static_cast<std::uint8_t>(about), 1});
    }
    for (const Session& session : state.sessions) {
        if (!session.dialler_open || !session.acceptor_open || session.broken) continue;
        add(MoveKind::reset, session.name);
        add(MoveKind::cut, session.name);
        const Host& dialler = state.hosts[session.name.dialler];
        const bool in_use = marked(dialler.dialled, session.name.acceptor) &&
                            dialler.dials[session.name.acceptor] == session.name.number;
        if (in_use && dialler.runs_now()) add(MoveKind::give_up, session.name);
    }
}

}  // namespace bullring::sim::explore
