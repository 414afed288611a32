// Randomness as a value: a small generator that is part of the node's state, with a bounded draw of
// its own, because the standard's distributions differ between libraries and a seed must replay.
#pragma once

#include <cstdint>
#include <tuple>

#include "protocol/values/time.hpp"

namespace bullring::protocol {

/// SplitMix64 (Steele, Lea, Flood 2014). Not for secrets.
class Rng {
public:
    constexpr explicit Rng(std::uint64_t seed = 0) : state_(seed) {}

    constexpr std::uint64_t next() {
        state_ += 0x9E37'79B9'7F4A'7C15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBULL;
        return z ^ (z >> 31U);
    }

    /// 0 … bound−1 (0 when bound is 0). The bias of the remainder is far below what timing needs.
    constexpr std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }

    /// 0 … limit, inclusive.
    constexpr Duration up_to(Duration limit) {
        return {limit.ns <= 0
                    ? 0
                    : static_cast<std::int64_t>(below(static_cast<std::uint64_t>(limit.ns) + 1))};
    }

    constexpr bool operator==(const Rng&) const = default;
    auto digest_fields() const { return std::tie(state_); }

private:
    std::uint64_t state_;
};

}  // namespace bullring::protocol
