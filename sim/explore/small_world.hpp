// The rules of a small world: which moves are possible in a state and what each does to it. The
// same state and the same move give the same state, on every host. What must never be seen is
// checked on the way (README of the protocol, §13): the first that is seen is the move's outcome.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/config.hpp"
#include "protocol/values/timing.hpp"
#include "sim/explore/canonical_digest.hpp"
#include "sim/explore/move.hpp"
#include "sim/explore/world_checks.hpp"
#include "sim/explore/world_state.hpp"

namespace bullring::sim::explore {

struct SmallWorldOptions {
    std::size_t nodes = 3;
    protocol::Algorithm algorithm = protocol::Algorithm::bully;
    protocol::Profile profile = protocol::Profile::lan;
    unsigned faults = 2;  // at most, together
    FaultKinds fault_kinds = FaultKinds::usual();
    /// Nothing is in flight for longer, unless who should get it is paused.
    protocol::Duration delay_max = protocol::milliseconds(2);
    bool preempt = true;
    protocol::Duration preempt_delay = protocol::seconds(10);
};

/// Makes a broken BULLRING_ASSERT of the protocol a violation instead of the end of the process,
/// for the rest of the process.
void catch_broken_assertions();

/// Where a search begins.
enum class StartState : std::uint8_t { cold, settled };
const char* name(StartState start);

class SmallWorld {
public:
    /// The options are sound: 1 … small_world_nodes_max nodes.
    explicit SmallWorld(const SmallWorldOptions& options);

    const SmallWorldOptions& options() const { return options_; }
    const protocol::Config& config(std::size_t node) const { return configs_[node]; }
    /// The ages from which on a value counts as old, in all that can follow.
    OldAges old_ages(const WorldState& start) const;

    /// All nodes have just started at that time, without files.
    WorldState cold(RealTime at = 0) const;
    /// The quiet that follows: a leader, nothing in flight, and everything that happened before so
    /// long ago that nobody asks.
    WorldState settled() const;

    WorldState start(StartState from) const;

    /// All that can happen next, what goes on by itself first.
    void moves(const WorldState& state, std::vector<Move>& out) const;
    bool possible(const WorldState& state, const Move& move) const;
    /// The move is possible. With `told`, what the nodes do about it is added as lines for people.
    std::optional<Violation> make(WorldState& state, const Move& move,
                                  std::vector<std::string>* told = nullptr) const;
    /// The instant when something that is in flight cannot be delayed any longer; no_time if there
    /// is none.
    RealTime last_call(const WorldState& state) const;
    /// Checks the state itself, without a move: I1, I3.
    std::optional<Violation> check(const WorldState& state) const;

    /// The name of the content that the move delivers, as in path files; "" if it delivers nothing.
    std::string content_name(const WorldState& state, const Move& move) const;

private:
    void add_arrivals(const WorldState& state, std::vector<Move>& out) const;
    void add_own_moves(const WorldState& state, std::vector<Move>& out) const;
    void add_time(const WorldState& state, std::vector<Move>& out) const;
    void add_faults(const WorldState& state, std::vector<Move>& out) const;
    void run_quietly(WorldState& state, RealTime until) const;

    SmallWorldOptions options_;
    std::vector<protocol::Config> configs_;
};

}  // namespace bullring::sim::explore
