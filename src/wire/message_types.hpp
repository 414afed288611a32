// The number of each message in the frame's head. Included by the codec's files only.
#pragma once

#include <cstdint>

#include "protocol/values/messages.hpp"
#include "src/wire/notice_messages.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring::codec {

/// The type byte. Never derived from a variant's order, which may change.
enum class Type : std::uint8_t {
    hello = 1,
    hello_ack = 2,
    refused = 3,
    heartbeat = 4,
    election = 5,
    ok = 6,
    decline = 7,
    leader_is = 8,
    coordinator = 9,
    grant = 10,
    nack = 11,
    resign = 12,
    token = 13,
    token_ack = 14,
    coordinator_token = 15,
    mourn = 16,
    dead = 17,
    observe = 64,
    observer_state = 65,
    observer_change = 66,
    resign_result = 67,
    observer_refused = 68,
    drill = 69,
    drill_result = 70,
    change_members = 71,
    change_result = 72,
};

template <class M>
struct Entry;  // the row of message M in the table of types
#define BULLRING_WIRE_TYPE(message, number)        \
    template <>                                    \
    struct Entry<message> {                        \
        static constexpr Type type = Type::number; \
    }
BULLRING_WIRE_TYPE(protocol::Hello, hello);
BULLRING_WIRE_TYPE(protocol::HelloAck, hello_ack);
BULLRING_WIRE_TYPE(protocol::Refused, refused);
BULLRING_WIRE_TYPE(protocol::Heartbeat, heartbeat);
BULLRING_WIRE_TYPE(protocol::Election, election);
BULLRING_WIRE_TYPE(protocol::Ok, ok);
BULLRING_WIRE_TYPE(protocol::Decline, decline);
BULLRING_WIRE_TYPE(protocol::LeaderIs, leader_is);
BULLRING_WIRE_TYPE(protocol::Coordinator, coordinator);
BULLRING_WIRE_TYPE(protocol::Grant, grant);
BULLRING_WIRE_TYPE(protocol::Nack, nack);
BULLRING_WIRE_TYPE(protocol::Resign, resign);
BULLRING_WIRE_TYPE(protocol::Token, token);
BULLRING_WIRE_TYPE(protocol::TokenAck, token_ack);
BULLRING_WIRE_TYPE(protocol::CoordinatorToken, coordinator_token);
BULLRING_WIRE_TYPE(Mourn, mourn);
BULLRING_WIRE_TYPE(Dead, dead);
BULLRING_WIRE_TYPE(Observe, observe);
BULLRING_WIRE_TYPE(ObserverState, observer_state);
BULLRING_WIRE_TYPE(ObserverChange, observer_change);
BULLRING_WIRE_TYPE(ResignResult, resign_result);
BULLRING_WIRE_TYPE(ObserverRefused, observer_refused);
BULLRING_WIRE_TYPE(Drill, drill);
BULLRING_WIRE_TYPE(DrillResult, drill_result);
BULLRING_WIRE_TYPE(ChangeMembers, change_members);
BULLRING_WIRE_TYPE(ChangeResult, change_result);
#undef BULLRING_WIRE_TYPE

}  // namespace bullring::codec
