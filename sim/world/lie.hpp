// A message that says something else than its sender did: damaged on its way, or by a stranger in
// the sender's name.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/values/messages.hpp"
#include "sim/world/types.hpp"

namespace bullring::sim {

struct Lie {
    HostIndex from = 0;
    HostIndex to = 0;
    std::string message;  // the protocol's name of the message that will say it
    std::string field;    // epoch, duration, stamp, round: all numbers of that kind in it
    std::int64_t value = 0;
};

/// Makes the message say it; false when it is another message.
bool say(const Lie& lie, protocol::Message& message);

}  // namespace bullring::sim
