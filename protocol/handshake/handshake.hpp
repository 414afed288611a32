// HELLO and its answers (PROTOCOL §3).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void on_dialled(Parts& node, Step& step, const Dialled& event);
void on_hello(Parts& node, Step& step, const HelloReceived& event);
void on_hello_ack(Parts& node, Step& step, SessionId session, const HelloAck& ack);
void on_refused(Parts& node, Step& step, SessionId session, const Refused& refused);

}  // namespace bullring::protocol
