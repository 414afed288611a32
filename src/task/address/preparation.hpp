// Checks the host, and clears it up, before a node joins that is to hold addresses while it leads.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "src/task/address/holder.hpp"

namespace bullring {

/// Checks what the command line says of this host. The error is one sentence.
tl::expected<void, std::string> check_device(const HeldAddresses& held);

/// A bridge, a tunnel or a bond may be made, and IPv6 be enabled, later than this starts: returns
/// when check_device() is content. For programs, before there are threads.
void wait_for_device(const HeldAddresses& held);

/// Takes off what an earlier run has left on any interface; says in the log what it did. The guard
/// of that run must be gone. The error is one sentence: no permission, or an address that is there
/// and not ours, as one by which this host itself is reached.
tl::expected<void, std::string> clear_leftovers(const HeldAddresses& held);

}  // namespace bullring
