// One attempt to reach a peer that has become a connection. What is said of it later, when another
// one may have taken its place, names it by its number.
#pragma once

#include <cstdint>

#include "protocol/values/ids.hpp"

namespace bullring {

struct Dial {
    protocol::NodeId peer;     // `nobody`: this connection has been accepted
    std::uint64_t number = 0;  // of all of this node's, from 1
    bool elsewhere = false;    // not at its address: where it calls from

    explicit operator bool() const { return static_cast<bool>(peer); }
};

}  // namespace bullring
