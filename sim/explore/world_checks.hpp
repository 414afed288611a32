// Checks the invariants of the protocol's README, §13, in a small world, from the view of an
// observer that sees everything. Looks only, and decides nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "protocol/values/actions.hpp"
#include "protocol/values/config.hpp"
#include "sim/explore/world_state.hpp"

namespace bullring::sim::explore {

/// A broken invariant.
struct Violation {
    std::string rule;  // "I1"; "assertion" for one of the protocol's own
    std::string text;
    bool operator==(const Violation&) const = default;
};

/// I1: at most one valid lease. I3: a valid leader has the newest elected epoch.
std::optional<Violation> check_leases(const WorldState& state);

/// I2: the epochs of the elections rise.
std::optional<Violation> check_elected(const WorldState& state, std::size_t node,
                                       const protocol::Elected& elected);

/// I10: the deadline of one epoch never decreases.
std::optional<Violation> check_published(const WorldState& state, std::size_t node,
                                         const protocol::Publish& publish);

/// I19: no list of the second cluster comes on a disk.
std::optional<Violation> check_written(std::size_t node, const protocol::Durable& written);

/// I7: no grant while recovering. I10: RESIGN only when nothing is published and no task runs.
/// I11: nothing proposed or granted that the disk does not know of. L5: no token older than
/// 3(N−1) hops. I16: a grant bears the tag of the list on the disk. The node has just made the step
/// that sends the message.
std::optional<Violation> check_sent(const WorldState& state, const protocol::Config& config,
                                    std::size_t node, const protocol::Message& message);

}  // namespace bullring::sim::explore
