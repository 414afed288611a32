// The check of a command line that only the system can make: do the programs that it names exist?
#pragma once

#include <string>

#include "src/settings/run_options.hpp"

namespace bullring {

/// Prints what is wrong with them, a line each; empty names are passed over. Whether anything is.
bool complain_of_programs(const Command& command, const std::string& health_cmd);

}  // namespace bullring
