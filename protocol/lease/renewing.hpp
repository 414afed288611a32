// A leader renews its lease (PROTOCOL R3, R4.5).
#pragma once

#include <optional>

#include "protocol/lease/campaign.hpp"

namespace bullring::protocol {

/// A renewal is due: the request to be carried to the voters, and at times to all.
std::optional<AddressedRequest> renew_if_due(Parts& node, Step& step);
void on_tying(Parts& node, Step& step, const Tying& event);

}  // namespace bullring::protocol
