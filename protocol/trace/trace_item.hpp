// What a line of a trace says, as a value: kept now, written or drawn later.
#pragma once

#include <variant>

#include "protocol/trace/trace.hpp"

namespace bullring::protocol {

struct TracedMessage {
    TraceEntry entry;
    Message message;
};

/// A mark's words must be literals.
using TraceItem = std::variant<TracedMessage, TraceMark>;

}  // namespace bullring::protocol
