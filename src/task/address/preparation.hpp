// Checks the host, and clears it up, before a node joins that is to hold addresses while it leads.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "src/task/address/holder.hpp"

namespace bullring {

/// Checks what the command line says of this host. The error is one sentence.
tl::expected<void, std::string> check_device(const HeldAddresses& held);

/// A bridge, a tunnel or a bond may be made later than this starts: says so, and returns when the
/// interface is there. False: SIGINT or SIGTERM has come before.
bool wait_for_device(const HeldAddresses& held);

/// Takes off what an earlier run has left on any interface; says in the log what it did. The guard
/// of that run must be gone. The error is one sentence: no permission, or an address that is there
/// and not ours, as one by which this host itself is reached.
tl::expected<void, std::string> clear_leftovers(const HeldAddresses& held);

}  // namespace bullring
