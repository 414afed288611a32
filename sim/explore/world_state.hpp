// The whole state of a small cluster as a value: nodes, disks, what is in flight. Unchanged parts
// are shared between the states that follow one another, so that millions fit into memory. Holds no
// behaviour; SmallWorld moves it, CanonicalDigest says which states are the same.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/node.hpp"
#include "sim/explore/move.hpp"

namespace bullring::sim::explore {

/// More members than this are no small world.
inline constexpr std::size_t small_world_nodes_max = 7;

/// Nanoseconds of real time. Every clock of a node runs as real time does, at a distance that never
/// changes and that shows whose clock, and which of the two, an instant was read from.
using RealTime = std::int64_t;

inline constexpr RealTime no_time = INT64_MAX / 4;

inline constexpr unsigned clock_distance_bits = 50;  // 13 days; no world lives half as long

constexpr protocol::Instant clock_of(std::size_t node, RealTime now) {
    const auto distance = [](std::size_t clock) {
        return static_cast<std::int64_t>(std::uint64_t{clock} << clock_distance_bits);
    };
    return {now + distance(1 + node), now + distance(1 + small_world_nodes_max + node)};
}

/// Ids of sessions carry their names, so that renaming them needs no table: who dialled whom,
/// which of those dials it was, and which of the two ends the id belongs to.
constexpr protocol::SessionId session_id(const SessionName& name, bool dialler_end) {
    return {(std::uint64_t{name.dialler} + 1) << 40U | (std::uint64_t{name.acceptor} + 1) << 32U |
            std::uint64_t{name.number} << 1U | (dialler_end ? 0U : 1U)};
}

constexpr SessionName session_name(protocol::SessionId id) {
    return {static_cast<std::uint8_t>((id.value >> 40U) - 1),
            static_cast<std::uint8_t>((id.value >> 32U & 0xFFU) - 1),
            static_cast<std::uint16_t>(id.value >> 1U & 0xFFFFU)};
}

constexpr bool is_dialler_end(protocol::SessionId id) { return (id.value & 1U) == 0; }

/// The same for runs: the node, and the number of its run.
constexpr protocol::Incarnation incarnation_of(std::size_t node, std::uint32_t run) {
    return {(std::uint64_t{node} + 1) << 32U | run};
}

/// A session carries messages, and the news that it is over.
using Content = std::variant<protocol::Message, protocol::SessionEnd>;

struct Flying {
    std::shared_ptr<const Content> content;
    RealTime sent_at = 0;  // no_time: it may take for ever
};

struct Session {
    SessionName name;
    bool dialler_open = true;
    bool acceptor_open = true;
    bool broken = false;  // what is sent from now on is lost
    std::vector<Flying> to_acceptor;
    std::vector<Flying> to_dialler;
};

struct Host {
    std::shared_ptr<const protocol::Node> node;  // null: it does not run
    std::optional<protocol::Durable> disk;
    std::optional<protocol::Durable> writing;
    protocol::Publish published{protocol::Epoch{}, protocol::long_ago};
    protocol::Epoch task;  // running; 0: none
    bool task_stopping = false;
    bool paused = false;
    std::uint8_t dialled = 0;    // bit i: a session dialled to i is in use or being greeted
    std::uint32_t runs = 0;      // so far
    RealTime wake_at = no_time;  // its timer
    std::array<std::uint16_t, small_world_nodes_max> dials{};  // so far, to each

    bool runs_now() const { return node != nullptr && !paused; }
};

struct WorldState {
    RealTime now = 0;
    std::uint32_t faults_left = 0;
    protocol::Epoch elected;  // the newest
    std::vector<Host> hosts;
    std::vector<Session> sessions;  // ascending by dialler, acceptor, number
};

/// The session in the state; null if nothing can happen on it any more.
const Session* find_session(const WorldState& state, const SessionName& name);
/// It has a published lease that is valid by its own clocks.
bool leads(const WorldState& state, std::size_t node);
/// "COORDINATOR", "FIN", …
std::string name(const Content& content);

}  // namespace bullring::sim::explore
