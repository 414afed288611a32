// The messages of the nodes (PROTOCOL §4), as values. How they look on the wire is the host's
// business. The sender's id and incarnation stand in every frame and are checked by the host
// against the session's HELLO, so they are repeated here only where a session does not know them
// yet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/values/difference.hpp"
#include "protocol/values/directory.hpp"
#include "protocol/values/identity.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

enum class Algorithm : std::uint8_t { bully = 1, ring = 2 };
enum class QuorumMode : std::uint8_t { majority = 1, none = 2 };

/// The way in which the promise to a holder that has died ends before its time (R4).
enum class FastRelease : std::uint8_t {
    off = 1,
    fin = 2,     // the end of the session that it is tied to
    notice = 3,  // the word of a process that outlives it, which nobody else can say
};

const char* name(Algorithm algorithm);
const char* name(QuorumMode mode);
const char* name(FastRelease release);

/// A node would lead for that (R5.15).
enum class Work : std::uint8_t {
    own = 1,    // the host has a task of its own, or does not say
    none = 2,   // it has none: the node votes, and leads in name
    asked = 3,  // processes on its machine ask for the leadership
};
const char* name(Work work);

/// The versions of the messages that this code speaks (PROTOCOL §4). A node may be configured to
/// speak none above `Config::wire_highest`.
inline constexpr std::uint16_t version_lowest = 1;
inline constexpr std::uint16_t version_highest = 6;
/// The first in which a list of members has a tag: none below it is spoken once members have
/// changed.
inline constexpr std::uint16_t version_with_tags = 3;
/// The lowest version that a node with this list speaks: before it there were no tags.
inline std::uint16_t lowest_with(const Membership& members) {
    return members.changed() ? version_with_tags : version_lowest;
}
/// The first in which the cluster has an id (C11).
inline constexpr std::uint16_t version_with_identity = 4;
/// The first in which no list goes without the id of its cluster (C12.2).
inline constexpr std::uint16_t version_with_named_lists = 5;
/// The first in which a node says what work it has (R5.15).
inline constexpr std::uint16_t version_with_work = 6;

inline constexpr std::size_t advertised_bytes_max = 256;
inline constexpr std::size_t cluster_name_bytes_max = 64;
inline constexpr std::size_t address_bytes_max = 64;

/// Both ends of a TCP connection as one side sees them, as "host:port"; they disagree behind a NAT.
struct Addresses {
    std::string local;
    std::string remote;
    bool operator==(const Addresses&) const = default;
};

/// The first message on a dialled session. The members up to `rho_ppm` must agree.
struct Hello {
    std::uint16_t version_lowest = protocol::version_lowest;
    std::uint16_t version_highest = protocol::version_highest;
    std::string cluster;
    std::vector<NodeId> members;  // of K, or the founders that are to be; ascending
    QuorumMode quorum = QuorumMode::majority;
    Algorithm algorithm = Algorithm::bully;
    std::uint32_t rho_ppm = 1000;
    NodeId id;
    Incarnation incarnation;
    SessionId session;  // the dialler's number for it
    Priority priority;
    Duration lease;
    Duration heartbeat_period;
    std::string advertised;
    Addresses addresses;                          // as the dialler sees them
    FastRelease fast_release = FastRelease::off;  // what may release a promise to the dialler
    Commitment commitment;                        // of this run; with `notice`
    bool recovering = false;
    bool had_file_at_start = false;
    std::optional<Membership> changed = std::nullopt;  // K, once it has been changed
    std::optional<Membership> shown = std::nullopt;    // of who has none: the newest it was shown
    ClusterId cluster_id{};                            // C11, once it is settled
    DirectoryId directory{};                           // C13.1
    /// Where the dialler can be dialled, as "host:port"; ":port": at the address where it is seen;
    /// empty: it has not said.
    std::string listens{};
    bool operator==(const Hello&) const = default;
};

/// The answer to a member that has restarted and asks what it has promised (R6).
struct Recall {
    enum class Answer : std::uint8_t {
        none = 1,         // nothing that it granted is counted here, nor will be
        held = 2,         // what it granted is counted
        cannot_tell = 3,  // an earlier run may have left something that acts
    };
    Answer answer = Answer::cannot_tell;
    // ---- held:
    Epoch epoch;
    Duration remaining;  // by the clock by which it is counted longer
    bool to_leader = false;
    bool operator==(const Recall&) const = default;
};

struct HelloAck {
    NodeId id;
    Incarnation incarnation;
    Priority priority;
    Duration lease;
    Addresses addresses;  // as the acceptor sees them
    Epoch max_seen;
    /// Where the epochs of a first start begin by its wall clock; 0: it is in none.
    Epoch clock_epoch;
    Duration promised_max;
    Duration lease_max;
    bool had_file_at_start = false;
    bool recovering = false;
    Recall recall;
    /// That is spoken on this session from now on: the highest that both ends know. Of a node that
    /// does not send it, it is 1.
    std::uint16_t version = 1;
    std::optional<Membership> changed = std::nullopt;  // K, once it has been changed
    std::optional<Membership> shown = std::nullopt;    // of who has none: the newest it was shown
    ClusterId cluster_id{};                            // C11, once it is settled
    std::optional<Identity> identity = std::nullopt;   // for who had no file (C11.5)
    bool operator==(const HelloAck&) const = default;
};

/// The acceptor's other answer: what differs, seen from the acceptor ("mine") and the dialler.
struct Refused {
    std::string field;  // the name of a Difference, or of one that newer programs know
    std::string mine;
    std::string yours;
    std::optional<Membership> list = std::nullopt;  // K, where the lists are what differs
    ClusterId cluster_id{};                         // C11, once it is settled
    bool operator==(const Refused&) const = default;
};

/// For this reason and no other word: what differs has a remedy.
inline Refused refusal(Difference what, std::string mine, std::string yours,
                       std::optional<Membership> list = std::nullopt) {
    return {name(what), std::move(mine), std::move(yours), std::move(list)};
}
inline bool differs_in(const Refused& refused, Difference what) {
    return refused.field == name(what);
}

/// The acceptor itself has this id.
inline Refused own_id_refusal(NodeId id) {
    return refusal(Difference::id, std::to_string(id.value) + " is this node's own id",
                   std::to_string(id.value));
}

/// Two processes have this id: the acceptor hears another one. The dialler recognises it (R6).
inline Refused twin_refusal(NodeId id) {
    return refusal(Difference::id,
                   "another process with id " + std::to_string(id.value) + " is connected",
                   std::to_string(id.value));
}
inline bool says_the_same(const Refused& a, const Refused& b) {
    return a.field == b.field && a.mine == b.mine && a.yours == b.yours;
}
inline bool is_twin_refusal(const Refused& refused, NodeId id) {
    return says_the_same(refused, twin_refusal(id));
}

struct Heartbeat {
    MemberSet heard;
    bool quorum_connected = false;
    bool eligible = false;
    bool recovering = false;
    bool leader_announced = false;  // `leader` has announced itself; else it is only a candidate
    bool stepping_down = false;     // the sender itself
    NodeId leader;                  // first-hand knowledge only; `nobody` otherwise
    Epoch leader_epoch;
    Duration leader_remaining;
    Epoch max_seen;
    Duration quorum_age;  // how long the sender has been quorum-connected
    Work work = Work::own;
    std::string advertised;  // by whoever is next to work at the sender; empty: as in its HELLO
    bool operator==(const Heartbeat&) const = default;
};

/// Bully: "I want to stand; is anybody of higher rank there?"
struct Election {
    std::uint64_t attempt = 0;
    bool operator==(const Election&) const = default;
};
/// Bully: "I am; wait for me."
struct Ok {
    std::uint64_t attempt = 0;
    bool operator==(const Ok&) const = default;
};
/// Bully: "I am not in your way."
struct Decline {
    std::uint64_t attempt = 0;
    bool operator==(const Decline&) const = default;
};
/// Bully: "there is a leader, first-hand."
struct LeaderIs {
    std::uint64_t attempt = 0;
    NodeId leader;
    Epoch epoch;
    Duration remaining;
    bool operator==(const LeaderIs&) const = default;
};

/// A lease request: a candidacy, or (`renew`) a renewal by a holder whose lease is valid.
struct Coordinator {
    Epoch epoch;
    Duration lease;
    Instant stamp;  // the holder's clocks just before sending; echoed, never interpreted
    bool renew = false;
    bool tie = false;
    std::optional<Heartbeat> heartbeat = std::nullopt;  // with a renewal: in place of an HB
    Tag tag{};                                          // of the sender's newest list of members
    std::optional<Membership> members = std::nullopt;   // that list, for who may not have it yet
    bool settled = false;  // renewal: that list decides, and was settled in this epoch (C8.4)
    /// Renewal, to who may not have it yet: the cluster's id; without one: what is yours? (C11)
    /// Beside a list: the id that the sender has on its disk (C12.2).
    std::optional<Identity> identity = std::nullopt;
    bool operator==(const Coordinator&) const = default;
};

struct Grant {
    Incarnation holder_incarnation;
    Epoch epoch;
    Duration lease;
    Instant stamp;
    SessionId tied_session;  // the holder's number; `no_session` when untied
    Incarnation voter_incarnation;
    std::optional<Heartbeat> heartbeat = std::nullopt;  // of a renewal: in place of an HB
    Tag tag{};                                          // of the voter's list of members
    std::optional<Identity> identity = std::nullopt;    // on the voter's disk, if it was asked
    bool operator==(const Grant&) const = default;
};

enum class NackReason : std::uint8_t {
    busy = 1,
    stale = 2,
    recovering = 3,
    reserved = 4,
    lease_too_long = 5,
    unknown_holder = 6,
    epoch_too_high = 7,
    stale_members = 8,  // the voter has a newer list of members
};
inline constexpr NackReason last_nack_reason = NackReason::stale_members;

const char* name(NackReason reason);

struct Nack {
    Incarnation holder_incarnation;
    Epoch epoch;
    NackReason reason = NackReason::busy;
    NodeId promise_holder;  // busy: whom the voter has promised to
    Epoch promised_epoch;   // busy: the epoch of that promise; stale: the voter's vmax
    Duration remaining;     // after this the voter may be free
    bool parked = false;    // the request waits for the end of the promise
    std::optional<Membership> members = std::nullopt;  // stale_members: the voter's list
    std::optional<Identity> identity = std::nullopt;   // beside it: on the voter's disk (C12.2)
    bool operator==(const Nack&) const = default;
};

/// The end of a leadership or of a candidacy. `successor` is `nobody` when none is named.
struct Resign {
    Epoch epoch;
    NodeId successor;
    bool operator==(const Resign&) const = default;
};

/// The part that TOKEN and CTOKEN share: whose round it is and where it has been. `round` counts
/// the rounds of one incarnation, election and coordinator tokens together, so the four ids name
/// one hop.
struct Walk {
    NodeId owner;
    Incarnation owner_incarnation;
    std::uint64_t round = 0;
    std::uint32_t step = 0;
    MemberSet visited;
    std::vector<Index> path;  // for the way back; at most one entry a member
    bool operator==(const Walk&) const = default;
};

/// Ring: the election token.
struct Token {
    Walk walk;
    Priority owner_priority;
    Epoch max_seen;
    bool operator==(const Token&) const = default;
};

/// Ring: "I have the token now", to the previous hop.
struct TokenAck {
    NodeId owner;
    Incarnation owner_incarnation;
    std::uint64_t round = 0;
    std::uint32_t step = 0;
    bool operator==(const TokenAck&) const = default;
};

struct TokenGrant {
    NodeId voter;
    Incarnation voter_incarnation;
    SessionId tied_session;
    bool operator==(const TokenGrant&) const = default;
};

struct TokenNack {
    NodeId voter;
    NackReason reason = NackReason::busy;
    NodeId promise_holder;
    Epoch promised_epoch;
    Duration remaining;
    bool operator==(const TokenNack&) const = default;
};

/// Ring: the coordinator token, a lease request that collects the answers on its way.
struct CoordinatorToken {
    Walk walk;
    Coordinator request;
    std::vector<TokenGrant> grants;
    std::vector<TokenNack> nacks;
    bool operator==(const CoordinatorToken&) const = default;
};

using Message = std::variant<Hello, HelloAck, Refused, Heartbeat, Election, Ok, Decline, LeaderIs,
                             Coordinator, Grant, Nack, Resign, Token, TokenAck, CoordinatorToken>;

/// The field's name for a message, as users, logs and pictures see it: "ELECTION", "CTOKEN", …
const char* name(const Message& message);
/// All of these names.
std::span<const char* const> message_names();

}  // namespace bullring::protocol
