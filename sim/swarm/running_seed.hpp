// Which seed this thread runs, so that a broken assertion of the protocol can name it.
#pragma once

#include <cstdint>
#include <string>

namespace bullring::sim {

extern thread_local std::uint64_t running_seed;

/// From now on an abort prints the seed with the `flags` that it was drawn with, writes a result
/// with them to `json` (if not empty) and exits with status 1.
void name_the_seed_on_abort(const std::string& json, const std::string& flags);

}  // namespace bullring::sim
