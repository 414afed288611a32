// Owns: the list of members in the library's words.
#pragma once

#include <bullring/members.hpp>

#include "protocol/values/membership.hpp"

namespace bullring {

MemberList described(const protocol::Membership& list);

}  // namespace bullring
