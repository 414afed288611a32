// All that a node can ask its host to do, in the order in which it must be done.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

struct Send {
    SessionId session;
    Message message;
    bool operator==(const Send&) const = default;
};

/// Close the socket: what is queued is sent first, then FIN. Never shutdown(), never SO_LINGER.
struct CloseSession {
    SessionId session;
    bool operator==(const CloseSession&) const = default;
};

/// The peer is there: dial it now instead of waiting for the back-off, unless it is connected.
struct DialNow {
    NodeId peer;
    /// It may be dialled there, too, from now on (C13.1); empty: at its own address alone.
    std::string calls_from = {};
    bool operator==(const DialNow&) const = default;
};

/// Write this and answer with Persisted; a failure stops the process.
struct Persist {
    Durable durable;
    bool operator==(const Persist&) const = default;
};

/// This node leads: start the task (on_elected).
struct StartTask {
    Epoch epoch;
    bool operator==(const StartTask&) const = default;
};

/// The leadership ends: end the task (on_lost) and answer with TaskEnded.
struct StopTask {
    Epoch epoch;
    DeposedReason reason = DeposedReason::resigned;
    bool operator==(const StopTask&) const = default;
};

/// The snapshot that is_leader() reads: one atomic pair. Epoch 0 means "not the leader".
struct Publish {
    Epoch epoch;
    Instant deadline;
    /// Until when the leadership holds whatever becomes of this node's sessions; never after
    /// `deadline`.
    Instant untied_until = long_ago;
    /// This node's file says that what acts under it may outlive this run (H2.5).
    bool may_be_outlived = false;
    bool operator==(const Publish&) const = default;
};

/// These are the members that this node deals with from now on, itself included: dial those that
/// are new, and no longer those that are not among them.
struct DealWith {
    Membership members;
    bool operator==(const DealWith&) const = default;
};

/// The list of members that holds for this node, now on its disk, is another one.
struct MembersChanged {
    Membership members;
    ClusterId cluster_id{};  // that the node knows by then; 0: none
    bool operator==(const MembersChanged&) const = default;
};

/// The end of a change of the members that was asked of this node.
struct MembersAnswer {
    RequestId request;
    bool done = false;     // the list with it has been settled, or it was so already
    std::string why;       // when it was not done, and what would help
    bool lasting = false;  // the same request will be refused until something else is done
    bool operator==(const MembersAnswer&) const = default;
};

// ---- What happened, for the event stream, the log and subscribers.

struct PeerUp {
    NodeId peer;
    bool operator==(const PeerUp&) const = default;
};

enum class PeerDownReason : std::uint8_t { eof, reset, timeout, refused, protocol };
const char* name(PeerDownReason reason);

struct PeerDown {
    NodeId peer;
    PeerDownReason reason = PeerDownReason::eof;
    bool operator==(const PeerDown&) const = default;
};

struct ElectionStarted {
    Epoch epoch;              // the epoch that a candidacy would have now
    const char* reason = "";  // a string literal
    friend bool operator==(const ElectionStarted& a, const ElectionStarted& b) {
        return a.epoch == b.epoch && std::string(a.reason) == b.reason;
    }
};

/// Whom this node now follows, itself included; `nobody` when the leader is lost.
struct LeaderChanged {
    NodeId leader;
    Epoch epoch;
    std::string advertised;
    bool after_end = false;  // a new leader, and the process of the one before is known to be gone
    /// Nobody has led from here on, as far as this node knows: the last sign of life of the leader
    /// before, also of a loss. None: it is the first leader.
    std::optional<Instant> unled_since = std::nullopt;
    bool operator==(const LeaderChanged&) const = default;
};

struct Elected {
    Epoch epoch;
    MemberSet grants;
    bool operator==(const Elected&) const = default;
};

struct Deposed {
    Epoch epoch;
    DeposedReason reason = DeposedReason::resigned;
    Instant held_until;  // never later than the lease
    bool operator==(const Deposed&) const = default;
};

struct RoleChanged {
    Role role = Role::follower;
    Epoch epoch;
    bool operator==(const RoleChanged&) const = default;
};

struct ResignAnswer {
    RequestId request;
    bool done = false;     // another leader is in place
    std::string why;       // when it was refused
    bool lasting = false;  // no waiting changes that, so asking again is of no use
    bool operator==(const ResignAnswer&) const = default;
};

/// Something that an operator may want to read; never an error. `peer` may be `nobody`.
struct Note {
    enum class Level : std::uint8_t { info, warning };
    Level level = Level::info;
    NodeId peer;
    std::string text;
    bool operator==(const Note&) const = default;
};

/// A handshake was refused, here (`by_us`) or by the peer. The host says it once until it changes.
struct HandshakeRefused {
    NodeId peer;  // by us: who it says that it is
    bool by_us = false;
    Refused difference;
    std::string address;  // by us: where it came from
    bool operator==(const HandshakeRefused&) const = default;
};

/// The step-down is complete and everything has been handed to the sessions: flush and exit.
struct Stopped {
    bool operator==(const Stopped&) const = default;
};

using Action =
    std::variant<Send, CloseSession, DialNow, Persist, StartTask, StopTask, Publish, DealWith,
                 MembersChanged, MembersAnswer, PeerUp, PeerDown, ElectionStarted, LeaderChanged,
                 Elected, Deposed, RoleChanged, ResignAnswer, Note, HandshakeRefused, Stopped>;

}  // namespace bullring::protocol
