// Small parts of a node's state, each with its meaning; core.hpp says who changes them.
#pragma once

#include "protocol/ids.hpp"
#include "protocol/messages.hpp"
#include "protocol/session_table.hpp"
#include "protocol/state.hpp"
#include "protocol/time.hpp"

namespace bullring::protocol {

/// Parked, or waiting for the disk.
struct PendingRequest {
    AcceptedSession from;
    Coordinator request;
    Instant since;
    bool operator==(const PendingRequest&) const = default;
};

/// For the successor that a resigned leader has named.
struct Reservation {
    NodeId successor;
    Instant until = long_ago;
    bool operator==(const Reservation&) const = default;
};

/// How the present step-down goes on.
struct StepDown {
    DeposedReason reason = DeposedReason::resigned;
    NodeId successor;
    bool renewing = false;       // while the task ends (R5.1)
    Instant give_up_at = never;  // the end of renewals if the task does not end
    bool operator==(const StepDown&) const = default;
};

/// What a heartbeat says of this node's state; a change is told without waiting for the period.
struct HeartbeatState {
    bool quorum_connected = false;
    bool eligible = false;
    bool recovering = false;
    bool announced = false;
    bool stepping_down = false;
    NodeId leader;
    Epoch epoch;
    bool operator==(const HeartbeatState&) const = default;
};

}  // namespace bullring::protocol
