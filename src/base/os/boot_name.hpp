// Owns: the name of what CLOCK_BOOTTIME counts from.
#pragma once

#include <string>

namespace bullring {

/// Two processes that have the same name have the same CLOCK_BOOTTIME: the kernel's ID of this boot
/// of the machine, and for a time namespace with an offset of its own (time_namespaces(7)) that,
/// too. Where /proc/sys can't be read it is the environment's BOOT_ID. Empty where it is unknown.
std::string boot_name();

}  // namespace bullring
