// When two small worlds are the same: their digests are equal if they differ only by a shift of
// time, by randomness that has not been used, by the names of runs and sessions, or by what their
// checks have seen on the way but the newest epoch. Never changes one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/values/fields.hpp"
#include "protocol/values/rng.hpp"
#include "sim/explore/small_world.hpp"

namespace bullring::sim::explore {

/// Keeps its memory from one state to the next; one for each thread.
class CanonicalDigest {
public:
    /// Nobody asks how long ago something was beyond `old`.
    explicit CanonicalDigest(Duration old) : old_(old) {}

    std::uint64_t of(const SmallWorld& small);

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
    struct Name {
        std::size_t word = 0;  // its place in words_
        std::uint32_t family = 0;
        std::uint32_t number = 0;
        bool dialler_end = false;
    };

    void grow();
    void reading(std::int64_t of_clock);
    std::size_t family(std::size_t connection) const;
    void add_name(const Name& name);
    void add(const Host& host);
    void add_connections();
    void add_incoming(const Connection& connection, Side reader);
    void put_ranks_for_names();
    std::uint64_t hash() const;

    Duration old_;
    const World* world_ = nullptr;
    std::vector<std::uint64_t> words_;  // the first used_ of them
    std::size_t used_ = 0;
    std::vector<Name> names_;
    std::vector<Family> families_;  // of sessions by dialler and acceptor, then of runs by host
    std::vector<std::pair<std::size_t, std::size_t>> connections_;  // by family
};

}  // namespace bullring::sim::explore
