// Owns: the environment as a source of values: BULLRING_LEASE for --lease.
#pragma once

#include <string>
#include <vector>

#include "src/options/flags.hpp"
#include "src/options/sources.hpp"

namespace bullring {

/// What it sets of the subcommand's flags. An empty variable counts as unset, as the shells'
/// ${NAME:-…} and XDG have it.
RawValues read_environment(Subcommand subcommand, const Environment& environment);

/// One sentence for each variable that sets nothing, but was probably meant to set a flag of the
/// subcommand. Those that a node tells (src/os/told_variables.hpp), and those that Kubernetes makes
/// for a service of this name, are none.
std::vector<std::string> misspelt_variables(Subcommand subcommand, const Environment& environment);

}  // namespace bullring
