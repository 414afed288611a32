// The library's log is the program's, with another end.
#include <utility>

#include <bullring/log.hpp>

#include "src/report/logging.hpp"

namespace bullring {

void set_log_handler(LogLevel level, std::function<void(LogLevel, std::string_view)> handler) {
    stop_logging();
    if (handler) start_logging_to(level, std::move(handler));
}

}  // namespace bullring
