// All that can happen to a node. The host hands them to Node::step one at a time, each with an
// instant that it has read after the event (after the read from the socket, after the fsync).
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/values/ids.hpp"
#include "protocol/values/member_change.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/state.hpp"

namespace bullring::protocol {

/// A TCP connection that this node dialled is open; nothing has been sent on it.
struct Dialled {
    NodeId peer;
    SessionId session;
    Addresses addresses;
    bool elsewhere = false;  // where it calls from (C13.1), which is not its entry's address
    bool operator==(const Dialled&) const = default;
};

/// The first message of an accepted connection.
struct HelloReceived {
    SessionId session;
    Hello hello;
    Addresses addresses;
    bool operator==(const HelloReceived&) const = default;
};

/// Any later message; on a dialled session only HELLO_ACK or REFUSED can come.
struct Receive {
    SessionId session;
    Message message;
    bool operator==(const Receive&) const = default;
};

enum class SessionEnd : std::uint8_t {
    eof,        // read returned 0 after all earlier bytes: the only end that can release anything
    reset,      // ECONNRESET, EPIPE, …
    truncated,  // a secured session's connection ended without its close_notify; as `reset`
    timeout,    // ETIMEDOUT, or a handshake that did not come
    protocol,   // it sent rubbish; closed here
    overflow,   // nothing more can be sent (its outbox is full): to be given up; still open
};

/// The session is of no more use. A dialled session's socket stays open until CloseSession, unless
/// it is in an error state (`reset`, `truncated`, `timeout` of the connection) or its handshake was
/// never done: then no FIN can release anything, and the host may have closed it. An accepted one
/// is closed already.
struct SessionEnded {
    SessionId session;
    SessionEnd how = SessionEnd::eof;
    bool operator==(const SessionEnded&) const = default;
};

/// That run of a member has ended, and nothing acts for it any more: its undertaker has said so,
/// and the host has checked that nobody else can have (R4).
struct Died {
    NodeId id;
    Incarnation incarnation;
    bool operator==(const Died&) const = default;
};

/// The time named by Node::until_wake has come. An early one is a no-op.
struct Wake {
    bool operator==(const Wake&) const = default;
};

/// The state that Persist asked for is on the disk, fsync and all.
struct Persisted {
    Durable durable;
    bool operator==(const Persisted&) const = default;
};

/// The task that StartTask began, or that StopTask asked to end, is over. A host without tasks says
/// so at once after StopTask.
struct TaskEnded {
    Epoch epoch;
    bool by_itself = false;  // neither because of StopTask, nor because its lease was about to end
    bool failed = false;     // by itself, with an error
    bool operator==(const TaskEnded&) const = default;
};

/// The task has not reported progress in time.
struct Stalled {
    bool operator==(const Stalled&) const = default;
};

/// A user wants this node to hand over. `request` comes back in ResignAnswer, unless nobody asks.
struct ResignRequested {
    NodeId to;
    RequestId request;
    /// Also when nobody can take over: this node is about to stand still.
    bool regardless = false;
    bool operator==(const ResignRequested&) const = default;
};

/// A user wants the list of members changed. `request` comes back in MembersAnswer.
struct MembersRequested {
    MemberChange change;
    RequestId request;
    bool operator==(const MembersRequested&) const = default;
};

struct HealthChanged {
    bool healthy = true;
    bool operator==(const HealthChanged&) const = default;
};

/// Whether the host wants to lead at all: one that has nobody to do the work stands aside. Unlike
/// bad health this ends no leadership, and it is over at once.
struct Standing {
    bool willing = true;
    bool operator==(const Standing&) const = default;
};

/// This node would lead for that; until it says so, for its own work (R5.15).
struct WorkChanged {
    Work work = Work::own;
    std::string advertised{};  // while it leads, in place of Config::advertised; empty: that one
    bool operator==(const WorkChanged&) const = default;
};

/// Whether voters are asked, from the next request on, to tie their grants to sessions: the host
/// unties them while a process that the sessions do not know of works under this leadership.
struct Tying {
    bool tie = true;
    bool operator==(const Tying&) const = default;
};

/// Step down and say so; ends with the action Stopped.
struct StopRequested {
    bool operator==(const StopRequested&) const = default;
};

using Event = std::variant<Dialled, HelloReceived, Receive, SessionEnded, Died, Wake, Persisted,
                           TaskEnded, Stalled, ResignRequested, MembersRequested, HealthChanged,
                           Standing, WorkChanged, Tying, StopRequested>;

}  // namespace bullring::protocol
