// One thing that can happen next in a small world, small enough to be kept by the million, and what
// moves the faults of a search are. What a move does is SmallWorld's business.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/values/names.hpp"

namespace bullring::sim::explore {

/// Names a session of a small world: who dialled whom, and which of those dials it was (1, 2, …).
struct SessionName {
    std::uint8_t dialler = 0;   // index
    std::uint8_t acceptor = 0;  // index
    std::uint16_t number = 0;
    bool operator==(const SessionName&) const = default;
};

enum class MoveKind : std::uint8_t {
    // ---- What goes on by itself.
    deliver,  // the acceptor gets the oldest of what was sent to it on that session
    answer,   // the dialler gets it
    disk,     // what was asked for is on the disk
    task,     // the task has ended as it was asked to
    dial,
    restart,
    resume,
    wake,  // time passes to that node's next timer, which is the earliest of all
    wait,  // time passes until something sent cannot be delayed any longer
    // ---- Faults.
    crash,      // kill -9: FIN
    power_off,  // silence
    pause,      // its timers and deliveries are held back while others go on
    resign,     // a user asks the leader to resign
    reset,      // both ends of the session see an RST; what was in flight is lost
    cut,        // nothing arrives any more; the dialler finds out at any time, the acceptor never
    give_up,    // the dialler gives the session up while it is open (its outbox is full)
    // ---- Changes: a user asks the leader to change the list of members. They count as faults.
    add,  // the other node, without a vote
    remove,
    promote,
    demote,
    // ---- A second cluster, of another name and with the same ids.
    greet,  // its node `acceptor` says HELLO, with its own list, which is newer
};

constexpr bool is_fault(MoveKind kind) { return kind >= MoveKind::crash; }
/// `session` says who is asked, and about whom; both may be the same node.
constexpr bool is_change(MoveKind kind) {
    return kind >= MoveKind::add && kind <= MoveKind::demote;
}
/// The move is about `session`, or two nodes, not about one node alone.
constexpr bool has_session(MoveKind kind) {
    return kind == MoveKind::deliver || kind == MoveKind::answer || kind == MoveKind::dial ||
           kind >= MoveKind::reset;
}

/// As path files and the command line name them.
constexpr const char* name(MoveKind kind) {
    switch (kind) {
        case MoveKind::deliver: return "deliver";
        case MoveKind::answer: return "answer";
        case MoveKind::disk: return "disk";
        case MoveKind::task: return "task";
        case MoveKind::dial: return "dial";
        case MoveKind::restart: return "restart";
        case MoveKind::resume: return "resume";
        case MoveKind::wake: return "wake";
        case MoveKind::wait: return "wait";
        case MoveKind::crash: return "crash";
        case MoveKind::power_off: return "power";
        case MoveKind::pause: return "pause";
        case MoveKind::resign: return "resign";
        case MoveKind::reset: return "reset";
        case MoveKind::cut: return "cut";
        case MoveKind::give_up: return "give-up";
        case MoveKind::add: return "add";
        case MoveKind::remove: return "remove";
        case MoveKind::promote: return "promote";
        case MoveKind::demote: return "demote";
        case MoveKind::greet: return "greet";
    }
    return protocol::no_name;
}

struct Move {
    MoveKind kind = MoveKind::wait;
    SessionName session;  // of a move without a session: the node is session.dialler
    bool operator==(const Move&) const = default;

    std::uint8_t node() const { return session.dialler; }
};

constexpr Move move_of(MoveKind kind, std::size_t node) {
    return {kind, {static_cast<std::uint8_t>(node), 0, 0}};
}

/// Which faults a search may choose.
class FaultKinds {
public:
    /// All but changes.
    static FaultKinds usual() {
        FaultKinds kinds;
        for (const MoveKind kind : protocol::enumerators<MoveKind>())
            if (is_fault(kind) && kind < MoveKind::add) kinds.insert(kind);
        return kinds;
    }
    constexpr void insert(MoveKind kind) { bits_ |= bit(kind); }
    constexpr bool contains(MoveKind kind) const { return (bits_ & bit(kind)) != 0; }
    constexpr bool operator==(const FaultKinds&) const = default;

private:
    static constexpr std::uint32_t bit(MoveKind kind) {
        return std::uint32_t{1} << static_cast<unsigned>(kind);
    }
    std::uint32_t bits_ = 0;
};

}  // namespace bullring::sim::explore
