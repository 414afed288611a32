// By what a node is known again that calls from another address than its entry's (PROTOCOL C13):
// its state directory, of which only one process at a time makes use (A4).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "protocol/values/ids.hpp"

namespace bullring::protocol {

/// 64 random bits, drawn for each state directory; 0 means "none yet".
struct DirectoryId {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const DirectoryId&) const = default;
    constexpr explicit operator bool() const { return value != 0; }
};

/// The directory of the process that was last reached at a member's address.
struct MetDirectory {
    NodeId member;
    std::string address;
    DirectoryId directory;
    bool operator==(const MetDirectory&) const = default;
};

}  // namespace bullring::protocol
