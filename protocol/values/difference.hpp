// The differences for which two nodes refuse each other: the `field` of a refusal. A new one needs
// a remedy for each way to start a node (src/node/report/refusal_text.hpp).
#pragma once

#include <cstdint>

namespace bullring::protocol {

enum class Difference : std::uint8_t {
    version,
    cluster,
    founders,
    cluster_id,  // of another cluster of this name (C11)
    quorum,
    algorithm,
    rho,
    members,  // of lists that nobody has changed
    member,   // it is not in a list that has been changed
    id,
    session,
    address,  // it keeps its reason to itself: the dialler comes from no member's address
};

const char* name(Difference difference);

}  // namespace bullring::protocol
