// Which seed this thread runs, so that a broken assertion of the protocol can name it.
#pragma once

#include <cstdint>
#include <string>

namespace bullring::sim {

extern thread_local std::uint64_t running_seed;

/// From now on an abort prints the seed, writes a result with it to `json` (if not empty) and exits
/// with status 1.
void name_the_seed_on_abort(const std::string& json);

}  // namespace bullring::sim
