// What only the system can say about a command line: whether the programs that it names are there.
#pragma once

#include <string>
#include <vector>

#include "src/options/run_options.hpp"

namespace bullring {

/// What is wrong with them, a line each; empty names are passed over.
std::vector<std::string> program_problems(const Command& command, const std::string& health_cmd);

/// Prints them. Whether there are any.
bool complain_of_programs(const Command& command, const std::string& health_cmd);

}  // namespace bullring
