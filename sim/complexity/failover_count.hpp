// How many messages one failover costs: counted in a run, beside the formulas of protocol/README
// §16.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "protocol/values/algorithms.hpp"
#include "sim/scenario/scenario.hpp"

namespace bullring::sim {

struct FailoverCount {
    std::uint64_t messages = 0;  // written to live sessions until everybody is informed
    std::array<std::uint64_t, std::variant_size_v<protocol::Message>> of_kind{};
    Time took = 0;
};

/// A settled leader is killed. Counted from then on are all messages but heartbeats, handshakes and
/// grants of renewals, until every survivor follows the next leader. nullopt: that took too long.
std::optional<FailoverCount> count_failover(const Settings& settings);

struct Complexity {
    std::size_t nodes = 0;
    std::uint64_t best = 0;   // counted: everything takes the same time
    std::uint64_t worst = 0;  // counted: the most of all seeds, with delays from 0 to far above δ
    std::uint64_t best_formula = 0;
    std::uint64_t worst_formula = 0;
};

/// The formulas of §16, for the textbook's algorithms (`quorum` none) and for ours.
const protocol::FailoverMessages& formulas(protocol::Algorithm algorithm,
                                           protocol::QuorumMode quorum);

Complexity measure(protocol::Algorithm algorithm, protocol::QuorumMode quorum, std::size_t nodes,
                   std::uint64_t seeds);

}  // namespace bullring::sim
