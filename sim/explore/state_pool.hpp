// Keeps the states of a search that wait for their turn in little memory: the same host in the same
// condition, and the same session with the same in flight, is kept once, however many states it is
// part of. Changes nothing about them. A pool is for one thread at a time; packing needs none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/explore/world_state.hpp"

namespace bullring::sim::explore {

struct PackedState {
    RealTime now = 0;
    std::uint32_t faults_left = 0;
    protocol::Epoch elected;
    std::vector<std::shared_ptr<const Host>> hosts;
    std::vector<std::shared_ptr<const Session>> sessions;

    void unpack(WorldState& to) const;
};

/// Which parts of a packed state are its own, and by what they are found in a pool.
struct OwnParts {
    struct Part {
        std::size_t at = 0;
        std::uint64_t digest = 0;
    };
    std::vector<Part> hosts;
    std::vector<Part> sessions;
};

/// Shares with `before` what has not changed; the rest is new, and named in `own`.
PackedState pack(const WorldState& state, const PackedState& before, OwnParts& own);

class StatePool {
public:
    /// Has the state share its own parts with the states that came before.
    void share(PackedState& state, const OwnParts& own);
    /// Forgets what no state holds any more.
    void sweep();

private:
    // Which part is found does not depend on the order in which they are kept.
    template <class Part>
    using Parts = std::unordered_map<std::uint64_t, std::shared_ptr<const Part>>;

    Parts<Host> hosts_;
    Parts<Session> sessions_;
};

}  // namespace bullring::sim::explore
