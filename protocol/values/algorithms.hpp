// All that depends on the algorithm outside its selector: one row each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/values/assert.hpp"
#include "protocol/values/messages.hpp"

namespace bullring::protocol {

/// A number that grows with N members (M = N−1 survivors, q a majority), and how it is written.
struct Formula {
    std::uint64_t (*of)(std::uint64_t n) = nullptr;
    const char* text = "";
};

/// The messages of one failover (§16).
struct FailoverMessages {
    Formula best;
    Formula worst;
};

struct AlgorithmRow {
    Algorithm algorithm = Algorithm::bully;
    const char* name = "";   // as flags and events have it
    const char* title = "";  // as people write it
    bool preempts = false;   // by default (§9)
    bool walks = false;      // requests go from member to member: the waits grow with them (§12)
    /// Message delays from the end of a leader to the next one, at most.
    std::uint64_t (*failover_delays)(std::uint64_t n) = nullptr;
    FailoverMessages messages;
    FailoverMessages of_the_textbook;  // quorum none
};

inline constexpr std::array algorithm_table{
    AlgorithmRow{
        Algorithm::bully,
        "bully",
        "Bully",
        true,
        false,
        [](std::uint64_t /*n*/) -> std::uint64_t { return 5; },
        {{[](std::uint64_t n) { return 3 * (n - 2); }, "3(N-2)"},
         {[](std::uint64_t n) { return (n - 1) * (n - 2) + 3 * (n - 2); }, "(N-1)(N-2)+3(N-2)"}},
        {{[](std::uint64_t n) { return n - 2; }, "N-2"},
         {[](std::uint64_t n) { return (n - 1) * (n - 1) - 1; }, "M^2-1"}},
    },
    AlgorithmRow{
        Algorithm::ring,
        "ring",
        "Ring",
        false,
        true,
        [](std::uint64_t n) { return 2 * n + 5; },
        {{[](std::uint64_t n) { return 3 * (n - 1) + 2 * (n / 2 + 1) - 1; }, "3M+2q-1"},
         {[](std::uint64_t n) { return (n - 1) * n + (n - 1) + 2 * (n / 2 + 1) - 1; },
          "M(M+1)+M+2q-1"}},
        {{[](std::uint64_t n) { return 2 * (n - 1); }, "2M"},
         {[](std::uint64_t n) { return (n - 1) * n / 2 + (n - 1); }, "M(M+1)/2+M"}},
    },
};

/// The highest on the wire.
inline constexpr Algorithm last_algorithm = algorithm_table.back().algorithm;

/// "bully|ring", ended by a zero.
inline constexpr auto algorithm_choice = [] {
    std::array<char, 64> words{};
    std::size_t at = 0;
    for (const AlgorithmRow& row : algorithm_table) {
        if (at != 0) words.at(at++) = '|';
        for (const char* letter = row.name; *letter != 0; ++letter) words.at(at++) = *letter;
    }
    return words;
}();

/// Of an enumerator: what is read from outside has been checked.
constexpr const AlgorithmRow& algorithm_row(Algorithm algorithm) {
    const auto* const row =
        std::find_if(algorithm_table.begin(), algorithm_table.end(),
                     [&](const AlgorithmRow& each) { return each.algorithm == algorithm; });
    BULLRING_ASSERT(row != algorithm_table.end());
    return *row;
}

}  // namespace bullring::protocol
