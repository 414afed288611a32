// From raw values to what each subcommand needs. The result counts only if no problem was added.
#pragma once

#include "src/options/node_options.hpp"
#include "src/options/observer_options.hpp"
#include "src/options/options_sources.hpp"
#include "src/options/run_options.hpp"

namespace bullring {

NodeOptions node_options(const RawValues& values, const Environment& environment,
                         Problems& problems);
RunOptions run_options(const RawValues& values, const Environment& environment, Command command,
                       Problems& problems);
LeadOptions lead_options(const RawValues& values, const Environment& environment, Command command,
                         Problems& problems);
StatusOptions status_options(const RawValues& values, Problems& problems);
WatchOptions watch_options(const RawValues& values, Problems& problems);
ResignOptions resign_options(const RawValues& values, Problems& problems);

}  // namespace bullring
