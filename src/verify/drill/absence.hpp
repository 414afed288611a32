// Which members are not there as a drill needs them, and why. Pure.
#pragma once

#include <string>
#include <vector>

#include "protocol/values/ids.hpp"
#include "src/observe/status_report.hpp"

namespace bullring::drill {

struct Absence {
    protocol::NodeId member;
    std::string why;  // "node 3 can't be reached: …"
};

/// By what they have answered: all that can't be reached, or do not vote yet. A member that is fine
/// is not among them, whoever else is.
std::vector<Absence> absences(const std::vector<MemberAnswer>& members);

}  // namespace bullring::drill
