// Owns: the sandbox of a unit, as far as files, users, capabilities and limits go, made by the same
// system calls for the calling process alone. What is found in it needs no rules of its own.
#pragma once

#include "src/cli/doctor/unit_start.hpp"

namespace bullring::doctor {

/// Makes the calling process what the unit's would be; it can't go back, and should end soon. Needs
/// root and no other thread. What this machine refuses is told, and throws if it is the user.
void enter_sandbox(const UnitFile& unit, const UnitStart& start, Findings& findings);

}  // namespace bullring::doctor
