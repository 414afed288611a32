// The sessions of a node, in both directions (PROTOCOL §3). A dialled session that is given up
// stays in the table, and open, for as long as a grant that is tied to it counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// The facts that the dialler's HELLO gives of it beside its name.
struct Introduction {
    Priority priority;
    Duration lease;
    Duration heartbeat_period;
    std::string advertised;
    std::string calls_from;  // where it can be dialled, as it says; empty: it has not said
    bool operator==(const Introduction&) const = default;
};

struct AcceptedSession {
    SessionId id;
    Index peer = 0;
    Incarnation incarnation;
    SessionId number;         // the dialler's
    bool release_ok = false;  // its FIN may release what is tied to it (R4)
    Introduction introduction;
    std::uint16_t version = version_lowest;  // that is spoken on it
    bool spoke = false;                      // something has come on it after its HELLO
    bool operator==(const AcceptedSession&) const = default;
};

enum class DialledState : std::uint8_t { greeting, up, lingering };

struct DialledSession {
    SessionId id;
    Index peer = 0;
    DialledState state = DialledState::greeting;
    bool asks_again = false;                 // its HELLO came after the silence (R6)
    bool elsewhere = false;                  // not at its entry's address (C13.1)
    std::uint16_t version = version_lowest;  // that is spoken on it once it is up
    bool operator==(const DialledSession&) const = default;
};

class SessionTable {
public:
    /// Of more sessions than this from one peer at once the oldest is closed.
    static constexpr std::size_t per_peer_max = 64;

    const AcceptedSession* accepted(SessionId id) const;
    AcceptedSession* accepted(SessionId id);
    const DialledSession* dialled(SessionId id) const;
    DialledSession* dialled(SessionId id);
    /// The newest accepted session of that run of the peer.
    const AcceptedSession* newest_accepted(Index peer, Incarnation incarnation) const;
    /// The newest on which it has spoken, for requests that came by way of others: anybody can open
    /// a session and say nothing.
    const AcceptedSession* newest_spoken(Index peer, Incarnation incarnation) const;
    /// Which one to close when there are too many: the oldest on which nothing was said, or else
    /// the oldest.
    const AcceptedSession* least_needed(Index peer) const;
    bool has_accepted(Index peer, Incarnation incarnation, SessionId number) const;
    std::size_t accepted_of(Index peer) const;
    /// Of the sessions with that peer one that is not given up; nullptr: there is none.
    DialledSession* dialled_in_use(Index peer);
    bool has_dialled_in_use(Index peer) const;
    const AcceptedSession* any_accepted(Index peer) const;

    void add(const AcceptedSession& session) { accepted_.push_back(session); }
    void add(const DialledSession& session) { dialled_.push_back(session); }
    void remove_accepted(SessionId id);
    void remove_dialled(SessionId id);

    const std::vector<DialledSession>& all_dialled() const { return dialled_; }
    bool operator==(const SessionTable&) const = default;
    auto digest_fields() const { return std::tie(accepted_, dialled_); }

private:
    std::vector<AcceptedSession> accepted_;  // in the order of their handshakes
    std::vector<DialledSession> dialled_;
};

}  // namespace bullring::protocol
