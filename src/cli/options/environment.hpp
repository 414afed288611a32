// Owns: the environment as a source of values: BULLRING_LEASE for --lease.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/settings/flags.hpp"
#include "src/settings/raw_values.hpp"

namespace bullring {

/// The values that it sets of the subcommand's flags. An empty variable counts as unset, as the
/// shells'
/// ${NAME:-…} and XDG have it.
RawValues read_environment(std::string_view subcommand, const Environment& environment);

/// One sentence for each variable that sets nothing, but was probably meant to set a flag of the
/// subcommand. Those that a node sets for what it starts (src/base/os/child_variables.hpp), and
/// those that Kubernetes makes for a service of this name, are none.
std::vector<std::string> misspelt_variables(std::string_view subcommand,
                                            const Environment& environment);

}  // namespace bullring
