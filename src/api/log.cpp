// The library's log is the program's log, with the user's function as its output.
#include <utility>

#include <bullring/log.hpp>

#include "src/base/log/logging.hpp"

namespace bullring {

void set_log_handler(LogLevel level, std::function<void(LogLevel, std::string_view)> handler) {
    stop_logging();
    if (!handler) return;
    start_logging_to(level, [handler = std::move(handler)](LogLevel of, std::string_view line) {
        try {
            handler(of, line);
        } catch (...) {
            // There is no other place to report it.
        }
    });
}

}  // namespace bullring
