// An invariant that is broken stops the process, in release too: stop rather than lead wrongly.
#pragma once

namespace bullring::protocol {

/// Ends the process. The host may install what is called first (to log where it happened).
using AssertHandler = void (*)(const char* condition, const char* file, int line);
void set_assert_handler(AssertHandler handler);
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace bullring::protocol

#define BULLRING_ASSERT(condition) \
    (static_cast<bool>(condition)  \
         ? void(0)                 \
         : ::bullring::protocol::assertion_failed(#condition, __FILE__, __LINE__))
