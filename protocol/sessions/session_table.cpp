#include "protocol/sessions/session_table.hpp"

#include <algorithm>

namespace bullring::protocol {

namespace {

template <class Sessions>
auto* find(Sessions& sessions, SessionId id) {
    const auto at = std::find_if(sessions.begin(), sessions.end(),
                                 [&](const auto& session) { return session.id == id; });
    return at == sessions.end() ? nullptr : &*at;
}

}  // namespace

const AcceptedSession* SessionTable::accepted(SessionId id) const { return find(accepted_, id); }
AcceptedSession* SessionTable::accepted(SessionId id) { return find(accepted_, id); }
const DialledSession* SessionTable::dialled(SessionId id) const { return find(dialled_, id); }
DialledSession* SessionTable::dialled(SessionId id) { return find(dialled_, id); }

const AcceptedSession* SessionTable::newest_accepted(Index peer, Incarnation incarnation) const {
    const AcceptedSession* newest = nullptr;
    for (const AcceptedSession& session : accepted_) {
        if (session.peer != peer || session.incarnation != incarnation) continue;
        if (newest == nullptr || newest->number < session.number) newest = &session;
    }
    return newest;
}

const AcceptedSession* SessionTable::newest_spoken(Index peer, Incarnation incarnation) const {
    const AcceptedSession* newest = nullptr;
    for (const AcceptedSession& session : accepted_) {
        if (session.peer != peer || session.incarnation != incarnation || !session.spoke) continue;
        if (newest == nullptr || newest->number < session.number) newest = &session;
    }
    return newest;
}

const AcceptedSession* SessionTable::least_needed(Index peer) const {
    const AcceptedSession* oldest = nullptr;
    for (const AcceptedSession& session : accepted_) {
        if (session.peer != peer) continue;
        if (!session.spoke) return &session;
        if (oldest == nullptr) oldest = &session;
    }
    return oldest;
}

bool SessionTable::has_accepted(Index peer, Incarnation incarnation, SessionId number) const {
    return std::any_of(accepted_.begin(), accepted_.end(), [&](const auto& session) {
        return session.peer == peer && session.incarnation == incarnation &&
               session.number == number;
    });
}

std::size_t SessionTable::accepted_of(Index peer) const {
    return static_cast<std::size_t>(std::count_if(accepted_.begin(), accepted_.end(),
                                                  [&](const auto& s) { return s.peer == peer; }));
}

DialledSession* SessionTable::dialled_in_use(Index peer) {
    const auto at = std::find_if(dialled_.begin(), dialled_.end(), [&](const auto& session) {
        return session.peer == peer && session.state != DialledState::lingering;
    });
    return at == dialled_.end() ? nullptr : &*at;
}

bool SessionTable::has_dialled_in_use(Index peer) const {
    return std::any_of(dialled_.begin(), dialled_.end(), [&](const auto& session) {
        return session.peer == peer && session.state != DialledState::lingering;
    });
}

const AcceptedSession* SessionTable::any_accepted(Index peer) const {
    const auto at = std::find_if(accepted_.begin(), accepted_.end(),
                                 [&](const auto& session) { return session.peer == peer; });
    return at == accepted_.end() ? nullptr : &*at;
}

void SessionTable::remove_accepted(SessionId id) {
    std::erase_if(accepted_, [&](const auto& session) { return session.id == id; });
}

void SessionTable::remove_dialled(SessionId id) {
    std::erase_if(dialled_, [&](const auto& session) { return session.id == id; });
}

}  // namespace bullring::protocol
