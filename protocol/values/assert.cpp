#include "protocol/values/assert.hpp"

#include <cstdlib>

namespace bullring::protocol {

namespace {
AssertHandler handler_of_host = nullptr;
}  // namespace

void set_assert_handler(AssertHandler handler) { handler_of_host = handler; }

void assertion_failed(const char* condition, const char* file, int line) {
    if (handler_of_host != nullptr) handler_of_host(condition, file, line);
    std::abort();
}

}  // namespace bullring::protocol
