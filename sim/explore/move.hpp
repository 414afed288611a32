// One thing that can happen next in a world that is moved by hand, small enough to be kept by the
// million, and what moves the faults of a search are. What a move does is in moves.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/values/names.hpp"

namespace bullring::sim::explore {

enum class MoveKind : std::uint8_t {
    // ---- What goes on by itself.
    deliver,      // the acceptor gets the oldest of what was sent to it on that connection
    answer,       // the dialler gets it
    broken,       // the acceptor finds out that the connection is broken
    broken_back,  // the dialler does
    disk,         // what was asked for is on the disk
    task,         // the task has ended as it was asked to
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
    reset,      // both ends of the connection see an RST; what was in flight is lost
    cut,        // nothing arrives any more; the dialler finds out at any time, the acceptor never
    give_up,    // the dialler gives the session up while it is open (its outbox is full)
    // ---- Changes: a user asks the leader to change the list of members. They count as faults.
    // Of two nodes, who may be the same: who is asked, and about whom.
    add,  // the other node, without a vote
    remove,
    promote,
    demote,
    // ---- A second cluster, of another name and with the same ids.
    greet,  // its node `other` says HELLO, with its own list, which is newer
};

constexpr bool is_fault(MoveKind kind) { return kind >= MoveKind::crash; }
/// Of two nodes: who has dialled, and whom.
constexpr bool has_connection(MoveKind kind) {
    return kind <= MoveKind::broken_back || kind == MoveKind::reset || kind == MoveKind::cut ||
           kind == MoveKind::give_up;
}
constexpr bool has_other(MoveKind kind) {
    return has_connection(kind) || kind == MoveKind::dial || kind >= MoveKind::add;
}

/// As scenarios and the command line name them.
constexpr const char* name(MoveKind kind) {
    switch (kind) {
        case MoveKind::deliver: return "deliver";
        case MoveKind::answer: return "answer";
        case MoveKind::broken: return "broken";
        case MoveKind::broken_back: return "broken-back";
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
    std::uint8_t node = 0;         // host
    std::uint8_t other = 0;        // host
    std::uint16_t connection = 0;  // of the world
    bool operator==(const Move&) const = default;
};

constexpr Move move_of(MoveKind kind, std::size_t node, std::size_t other = 0,
                       std::size_t connection = 0) {
    return {kind, static_cast<std::uint8_t>(node), static_cast<std::uint8_t>(other),
            static_cast<std::uint16_t>(connection)};
}

/// "deliver 1>2/7", "wake 3": ids are those of hosts, and a connection is named by who dialled whom
/// and by which of the world's connections it is.
std::string to_text(const Move& move);
/// Reads what follows the name of its kind; false: it is no place of such a move.
bool read_place(std::string_view text, Move& move);
/// How such a place is written: "3>1/5".
constexpr const char* place_example(MoveKind kind) {
    return has_connection(kind) ? "3>1/5" : has_other(kind) ? "3>1" : "3";
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
