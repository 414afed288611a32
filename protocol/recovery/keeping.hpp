// Keeps the disk ahead of what is in use (PROTOCOL R7), in the background.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void keep_reserve(Parts& node, Step& step);
/// Nothing is left to be written before the process may end.
bool all_written(const Parts& node);
void on_persisted(Parts& node, Step& step, const Persisted& event);

}  // namespace bullring::protocol
