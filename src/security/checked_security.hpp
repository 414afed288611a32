// The checks of what a user says of security, which read the files that are named; and with them
// all options of a node. What they return counts only if no problem was added.
#pragma once

#include <string_view>
#include <vector>

#include "src/settings/request.hpp"

namespace bullring {

/// The flags by which a user says how connections are secured, without `security-migrate`.
std::vector<std::string_view> security_flags();
/// A mode that has to be named, files that the mode lacks, and what is wrong in them (they are read
/// for that). `self`: `nobody` for an observer.
SecurityOptions checked_security(const Request& request, protocol::NodeId self, Report& report);

NodeOptions checked(const Request& request, const Environment& environment,
                    const EndOfWork& end_of_work, Report& report);

}  // namespace bullring
