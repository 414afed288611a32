// The answers of voters to a holder's requests (PROTOCOL R3).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void on_grant(Parts& node, Step& step, Index voter, const Grant& grant);
void on_nack(Parts& node, Step& step, Index voter, const Nack& nack);

}  // namespace bullring::protocol
