// Owns: the name by which a node is to be reached, as its own host resolves it: it may not resolve
// yet, or to an address that nobody else reaches.
#pragma once

#include <string>

#include "src/settings/node_options.hpp"

namespace bullring {

/// One sentence if this node listens at loopback only, by a name, while other members are
/// elsewhere; else empty. Asks the resolver for this node's own name, and for no other.
std::string why_nobody_reaches(const NodeOptions& options);

/// Returns when the name resolves: where a network begins slowly that takes a while, as with the
/// names of the others. Says what it waits for. SIGTERM and SIGINT end the program with 0
/// meanwhile. For programs, before there are threads; never where what is given is an address.
void wait_for_own_name(const Endpoint& listen);

}  // namespace bullring
