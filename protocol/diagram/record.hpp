// A record of what a node keeps in memory: the same that its line in a file would be read as.
#pragma once

#include "protocol/diagram/trace.hpp"
#include "protocol/trace/trace_item.hpp"

namespace bullring::protocol::diagram {

TraceRecord record_of(const TraceItem& item);

}  // namespace bullring::protocol::diagram
