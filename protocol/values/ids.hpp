// The names of things: nodes, runs of a process, leaderships, sessions. Plain values, no behaviour.
#pragma once

#include <compare>
#include <cstdint>

namespace bullring::protocol {

/// A member of the cluster, 1 … 2^63−1; 0 means "nobody".
struct NodeId {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const NodeId&) const = default;
    constexpr explicit operator bool() const { return value != 0; }
};

inline constexpr NodeId nobody{};

/// One run of a process: 64 random bits drawn at its start.
struct Incarnation {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const Incarnation&) const = default;
};

/// The SHA-256 of a secret (as four big-endian numbers) by which a run of a process binds itself:
/// a sender that can show the secret speaks of that run's end (R4). All zero: nobody can.
struct Commitment {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    std::uint64_t fourth = 0;
    constexpr bool operator==(const Commitment&) const = default;
    constexpr explicit operator bool() const { return *this != Commitment{}; }
};

/// The number of a leadership; only ever rises; the fencing token. 0 means "none".
struct Epoch {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const Epoch&) const = default;
    constexpr explicit operator bool() const { return value != 0; }
};

constexpr Epoch operator+(Epoch epoch, std::uint64_t count) { return {epoch.value + count}; }

/// A session as the host names it locally: unique for the life of the process, dialled and accepted
/// sessions alike. HELLO gives a dialled session's number to the acceptor (PROTOCOL §3).
struct SessionId {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const SessionId&) const = default;
    constexpr explicit operator bool() const { return value != 0; }
};

inline constexpr SessionId no_session{};

/// The one that has asked this node for something, and wants an answer.
enum class Asker : std::uint8_t { none, observer, host, http };

/// A question, by whoever asked it and the number that it has there: the answer has the same.
struct RequestId {
    Asker asker = Asker::none;
    std::uint64_t number = 0;
    constexpr bool operator==(const RequestId&) const = default;
};

/// Whose promise: a node *and* the run of it, because ids may be duplicated by mistake (A4).
struct HolderKey {
    NodeId id;
    Incarnation incarnation;
    constexpr auto operator<=>(const HolderKey&) const = default;
};

/// −1000 … 1000, or `never` for a voter that never leads.
struct Priority {
    static constexpr std::int32_t never_value = INT32_MIN;
    std::int32_t value = 0;
    constexpr auto operator<=>(const Priority&) const = default;
    static constexpr Priority never() { return {never_value}; }
    constexpr bool is_never() const { return value == never_value; }
};

/// The order that "higher" means everywhere: the priority first, then the id.
struct Rank {
    Priority priority;
    NodeId id;
    constexpr auto operator<=>(const Rank&) const = default;
};

}  // namespace bullring::protocol
