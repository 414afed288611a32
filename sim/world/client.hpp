// A process on a host's machine that is attached to the host's process, and what its page shows
// (protocol/attach/README.md). It outlives the process that it is attached to.
#pragma once

#include <cstdint>

#include "protocol/attach/candidacies.hpp"
#include "sim/world/types.hpp"

namespace bullring::sim {

using protocol::ClientId;

/// Memory that the two share: it stays as it is when either ends.
struct ClientPage {
    Epoch epoch;
    std::int64_t valid_until_ns = 0;  // CLOCK_BOOTTIME of the machine
};

struct Client {
    HostIndex host = 0;
    std::uint32_t run = 0;  // of the host's process, to which it is connected
    ClientId id;
    bool lives = true;  // the process that has connected; a child of it may hold the connection
    bool connected = true;
    bool stopped = false;  // SIGSTOP
    bool deaf = false;     // goes on when it is told to end
    bool guarded = false;  // while it leads its node's undertaker kills it with the node
    bool told = false;     // to end, and has not said yet that it has
    bool again = true;     // it stands for the next leadership, too
    Time said_at = 0;      // what it says arrives in order
    ClientPage page;
    std::int64_t works_until_ns = 0;  // whatever its page says now; 0: its work is over
    Epoch works_in;                   // the last epoch that its page had
    Epoch ended;                      // the last epoch whose work it has ended itself
};

/// A sign of a client that the host's process learns of by itself: words, the end of the connection
/// and that of the process come by different descriptors.
enum class ClientSign : std::uint8_t { campaign, done, over, closed, ended };

}  // namespace bullring::sim
