// The check of a command line that only the system can make: do the programs that it names exist?
#pragma once

#include <string>
#include <vector>

#include "src/settings/run_options.hpp"

namespace bullring {

/// Says what is wrong with them, a sentence each; empty names are passed over.
std::vector<std::string> missing_programs(const Command& command, const std::string& health_cmd);
/// Prints it, a line each. Whether there is anything.
bool complain_of_programs(const Command& command, const std::string& health_cmd);

}  // namespace bullring
