// Which of all clusters that bear one name a cluster is (PROTOCOL C11): a number that a leader
// draws once and a majority keeps.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "protocol/values/ids.hpp"

namespace bullring::protocol {

/// 64 random bits; 0 means "not known".
struct ClusterId {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const ClusterId&) const = default;
    constexpr explicit operator bool() const { return value != 0; }
};

/// 16 hexadecimal digits.
std::string to_text(ClusterId id);
/// 0: the text is something else.
ClusterId cluster_id_in(std::string_view text);

/// A node's knowledge of its cluster's id. Durable.
struct Identity {
    ClusterId id;
    Epoch epoch;           // of the leader that told it
    bool settled = false;  // a majority has it: the cluster will never have another
    /// C11.1: of two that are told the greater one is the cluster's. By no leader: a node that had
    /// lost its disk has it from who had it settled (C11.5).
    constexpr auto rank() const {
        return std::tuple(settled, static_cast<bool>(id) && !epoch.value, epoch);
    }
    /// The id by which the cluster is told from others.
    constexpr ClusterId known() const { return settled ? id : ClusterId{}; }
    constexpr bool operator==(const Identity&) const = default;
};

/// Both are known, and differ.
constexpr bool are_of_different_clusters(ClusterId a, ClusterId b) { return a && b && a != b; }

}  // namespace bullring::protocol
