// The messages of the process that outlives a node to report its end (PROTOCOL R4), on connections
// of its own to the peer port. The frame's sender is the node. These two frames alone are taken in
// plain text where connections are secured: the secret proves them.
#pragma once

#include <cstdint>
#include <variant>

namespace bullring {

/// The first frame of such a connection.
struct Mourn {
    bool operator==(const Mourn&) const = default;
};

/// 32 random bytes as four big-endian numbers, known to one run of a node and to its undertaker.
struct DeathSecret {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    std::uint64_t fourth = 0;
    bool operator==(const DeathSecret&) const = default;
};

/// The sender's run has ended, and nothing acts for it any more.
struct Dead {
    DeathSecret secret;
    bool operator==(const Dead&) const = default;
};

using NoticeMessage = std::variant<Mourn, Dead>;

}  // namespace bullring
