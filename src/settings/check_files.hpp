// The checks of the files that a node is told of: that none which it writes is one that it keeps or
// reads, and who else may change what it believes.
#pragma once

#include <string>

#include "src/settings/node_options.hpp"
#include "src/settings/raw_values.hpp"

namespace bullring {

/// By the files that the paths lead to, links or not. `config`: empty: none.
void check_written_files(const NodeOptions& options, const std::string& config, Report& report);

/// Adds what others than the owner, root, and a group of this process may change.
void note_loose_files(NodeOptions& options, const std::string& config);

}  // namespace bullring
