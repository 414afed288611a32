// A list of members as people and programs read it.
#pragma once

#include <string>

#include "protocol/values/membership.hpp"
#include "src/base/text/json.hpp"

namespace bullring {

/// "1, 2, 3, 4 without a vote (list 7.2)".
std::string members_text(const protocol::Membership& members);

/// [{"id":1,"address":"host:port","vote":true},…]
Json members_json(const protocol::Membership& members);

}  // namespace bullring
