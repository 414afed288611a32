#include "src/watch/keeper_settings.hpp"

#include <utility>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"

namespace bullring {

KeeperSettings keeper_settings(const NodeOptions& options, const char* setting) {
    const std::string text = fmt::format(
        "killed by its keeper: it led, and its event loop stood still for {} ({}); a majority of "
        "the others elects another leader",
        to_text(options.hang_after), setting);
    LogLineParts line =
        log_line_parts(options.log.format, options.config.self, LogLevel::error, text);
    return {options.hang_after, std::move(line.before_time), std::move(line.after_time), "",
            options.config.self.value};
}

}  // namespace bullring
