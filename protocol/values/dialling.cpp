#include "protocol/values/dialling.hpp"

#include <algorithm>

namespace bullring::protocol {

Duration connect_max(const Timing& timing) {
    return std::clamp(std::max(timing.suspect_after, timing.round_trip * 4), milliseconds(100),
                      handshake_max);
}

Duration unacknowledged_max(const Timing& timing) {
    return std::max(timing.suspect_after, seconds(1));
}

Duration first_call_max(const Timing& timing) {
    return std::max(timing.suspect_after, dial_pause_max) * 2;
}

}  // namespace bullring::protocol
