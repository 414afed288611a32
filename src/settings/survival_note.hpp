// The note for a cluster whose number of members survives no more failures than one member less.
#pragma once

#include <string>

#include "protocol/values/membership.hpp"

namespace bullring {

/// Empty: the number is odd, or there is nobody.
std::string survival_note(const protocol::Membership& members);

}  // namespace bullring
