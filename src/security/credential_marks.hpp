// Owns: what distinguishes one state of the files with credentials from another, without reading
// them. Blocks.
#pragma once

#include <string>
#include <vector>

#include "src/settings/security_options.hpp"

namespace bullring {

/// One for each file. Another one when a file has been written, when it may be read by others than
/// before, when another one has been moved to its place, or a link has been set to another one.
using CredentialMarks = std::vector<std::string>;

CredentialMarks marks_of(const SecurityOptions& options);

}  // namespace bullring
