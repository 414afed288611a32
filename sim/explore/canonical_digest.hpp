// When two states of a small world are the same: their digests are equal if they differ only by a
// shift of time, by randomness that has not been used, or by the names of runs and sessions. Never
// changes a state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/values/fields.hpp"
#include "protocol/values/rng.hpp"
#include "sim/explore/world_state.hpp"

namespace bullring::sim::explore {

/// Beyond these, nobody asks how long ago something was.
struct OldAges {
    protocol::Duration instant;  // of any instant that the protocol keeps
    protocol::Duration flight;   // of what is in flight
};

/// Keeps its memory from one state to the next; one for each thread.
class CanonicalDigest {
public:
    explicit CanonicalDigest(const OldAges& old) : old_(old) {}

    std::uint64_t of(const WorldState& state);

    // ---- For take_apart().
    void word(std::uint64_t word) {
        if (used_ == words_.size()) [[unlikely]]
            grow();
        words_[used_++] = word;
    }
    void take(const protocol::Instant& at) {
        reading(at.boottime_ns);
        reading(at.raw_ns);
    }
    void take(const protocol::SessionId& id);
    void take(const protocol::Incarnation& run);
    /// Everybody is at its address here, whatever its directory.
    void take(const protocol::DirectoryId& id) { word(id ? 1 : 0); }
    void take(const protocol::Heartbeat& heartbeat);
    /// The draws so far show in other fields, and the next ones are not known yet.
    void take(const protocol::Rng&) {}

private:
    /// The numbers of one family of names that occur: the sessions of one node to one other, or the
    /// runs of one node. Ascending, because the protocol asks which of two sessions is newer.
    using Family = std::vector<std::uint32_t>;
    static constexpr std::size_t session_families = small_world_nodes_max * small_world_nodes_max;
    struct Name {
        std::size_t word = 0;  // its place in words_
        std::uint32_t family = 0;
        std::uint32_t number = 0;
        bool dialler_end = false;
    };

    void grow();
    void reading(std::int64_t of_clock);
    void add_name(const Name& name);
    void add(const Host& host);
    void add(const Session& session);
    void add(const std::vector<Flying>& flying);
    void put_ranks_for_names();
    std::uint64_t hash() const;

    OldAges old_;
    RealTime now_ = 0;
    std::vector<std::uint64_t> words_;  // the first used_ of them
    std::size_t used_ = 0;
    std::vector<Name> names_;
    std::array<Family, session_families + small_world_nodes_max> families_;
};

}  // namespace bullring::sim::explore
