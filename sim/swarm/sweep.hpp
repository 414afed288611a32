// Many seeds on all cores: what they found, what they covered, how long leaders were missing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/check/coverage.hpp"
#include "sim/check/violation.hpp"
#include "sim/swarm/swarm.hpp"

namespace bullring::sim {

struct SeedRange {
    std::uint64_t first = 1;
    std::uint64_t last = 1;  // inclusive
    bool operator==(const SeedRange&) const = default;
};

struct SweepOptions {
    SeedRange seeds;
    std::uint64_t shard = 0;  // of `shards`: seeds with seed % shards == shard
    std::uint64_t shards = 1;
    unsigned jobs = 1;
    bool stop_at_first = false;
    std::uint32_t twice_percent = 1;  // of the seeds, which must give the same digest again
    SwarmOptions swarm;
};

struct Found {
    std::uint64_t seed = 0;
    Violation violation;
    std::string flags = {};  // of `run`, beside the seed, that show it again
};

/// Which seeds a result is about.
struct Share {
    SeedRange seeds;
    std::uint64_t shard = 0;
    std::uint64_t shards = 1;
    std::string flags;  // that fixed what the seeds would have drawn
    bool full = true;   // false: they have narrowed what can happen
    bool operator==(const Share&) const = default;
};

/// Whether a seed is in both, and was drawn the same way.
bool overlap(const Share& a, const Share& b);

/// How long something took, in classes of about 5 %, so that results of machines can be added.
class Durations {
public:
    void add(Time took, Time limit);
    void add(const Durations& other);
    void add_class(std::uint32_t at, std::uint64_t times) { classes_[at] += times; }
    void raise_max(Time took, Time limit);

    std::uint64_t count() const;
    Time quantile(double share) const;
    Time max() const { return max_; }
    /// The largest share of its limit that anything took, in percent.
    std::int64_t nearest_percent() const { return nearest_percent_; }
    void raise_nearest(std::int64_t percent);
    const std::map<std::uint32_t, std::uint64_t>& classes() const { return classes_; }

private:
    std::map<std::uint32_t, std::uint64_t> classes_;
    Time max_ = 0;
    std::int64_t nearest_percent_ = 0;
};

struct SweepResult {
    std::vector<Share> shares;
    std::uint64_t seeds = 0;
    std::uint64_t twice = 0;
    std::uint64_t steps = 0;
    std::uint64_t delivered = 0;
    std::uint64_t elections = 0;
    Time simulated = 0;
    std::int64_t cpu_ns = 0;
    std::vector<Found> violations;  // by seed
    Coverage coverage;
    std::map<std::string, Durations> waited;  // by check
    std::uint64_t digest = 0;                 // of all seeds' digests, in no order

    void add(const SweepResult& other);
};

struct Progress {
    std::uint64_t done = 0;
    std::uint64_t all = 0;
    double seconds = 0;
};

/// `tell` is called now and then, from one thread.
SweepResult sweep(const SweepOptions& options, const std::function<void(const Progress&)>& tell);

/// Whether something that a sweep should see may never happen with these.
bool narrows(const SwarmOptions& options);

/// The events that a sweep of this size should have seen and has not; empty for small ones, and
/// where a share is not full.
std::vector<Seen> never_seen(const SweepResult& result);

}  // namespace bullring::sim
