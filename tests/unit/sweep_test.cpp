// Shares of a sweep: which of them may be added.
#include "sim/swarm/sweep.hpp"

#include <doctest/doctest.h>

namespace bullring::sim::sweep_test {
namespace {

Share share(SeedRange seeds, std::uint64_t shard, std::uint64_t shards) {
    return {seeds, shard, shards, "", true};
}

TEST_CASE("sweep: shares overlap when a seed is in both of them") {
    CHECK(overlap(share({1, 10}, 0, 1), share({10, 20}, 0, 1)));
    CHECK_FALSE(overlap(share({1, 10}, 0, 1), share({11, 20}, 0, 1)));
    CHECK_FALSE(overlap(share({1, 100}, 0, 3), share({1, 100}, 1, 3)));
    CHECK(overlap(share({1, 100}, 0, 3), share({1, 100}, 1, 4)));  // 9
    CHECK_FALSE(overlap(share({1, 8}, 0, 3), share({1, 8}, 1, 4)));
    CHECK_FALSE(overlap(share({1, 100}, 0, 4), share({1, 100}, 1, 2)));  // even and odd
}

TEST_CASE("sweep: what was drawn another way is another share") {
    Share narrowed = share({1, 10}, 0, 1);
    narrowed.flags = " --nodes 5";
    CHECK_FALSE(overlap(share({1, 10}, 0, 1), narrowed));
    CHECK(overlap(narrowed, narrowed));
}

}  // namespace
}  // namespace bullring::sim::sweep_test
