// Owns: where the library's log goes. Nothing is logged until the user asks for it.
#pragma once

#include <functional>
#include <string_view>

#include <bullring/export.hpp>

namespace bullring {

enum class LogLevel { trace, debug, info, warn, error };

/// The same for all nodes of the process. `handler` gets each line of `level` and above, without a
/// line break, in a thread of the library's own, one at a time; a slow one loses the oldest lines,
/// and delays nothing. It must not throw: what it throws is swallowed. An empty one ends the log.
/// Call it once, before the first node starts.
BULLRING_API void set_log_handler(LogLevel level,
                                  std::function<void(LogLevel, std::string_view)> handler);

}  // namespace bullring
