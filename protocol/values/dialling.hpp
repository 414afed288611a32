// How long a host waits when it dials (PROTOCOL §3): the program and the simulator use the same
// figures, and the silence of a node that was refused for another process with its id rests on them
// (R6).
#pragma once

#include "protocol/values/timing.hpp"

namespace bullring::protocol {

/// From the connection to the answer to HELLO; and before that to the end of a TLS handshake.
inline constexpr Duration handshake_max = seconds(1);
/// Between two attempts; it doubles, and begins anew when a peer has answered.
inline constexpr Duration dial_pause_min = milliseconds(10);
inline constexpr Duration dial_pause_max = milliseconds(500);

/// One SYN an attempt: a path that was dead is in use again soon after it heals, and not when
/// TCP's own doubling retransmission comes round. Of all addresses of a name. 100 ms … 1 s.
Duration connect_max(const Timing& timing);

/// Long enough for two lost packets in a row (200 and 400 ms), short enough that a connection which
/// has been cut off is given up before its retransmissions are seconds apart.
Duration unacknowledged_max(const Timing& timing);

/// A peer that can be reached again has been dialled again within this: an attempt of before may
/// fail first, at the end of its connection, of its TLS handshake or of its HELLO, and then comes
/// the pause; and so may one at the other of two addresses (C13.1).
inline constexpr Duration redial_max = (handshake_max * 3 + dial_pause_max) * 2;

/// A peer that is up has dialled a node that has just started within this, unless packets are lost.
Duration first_call_max(const Timing& timing);

}  // namespace bullring::protocol
