#include "src/task/supervisor/guard_run.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

namespace bullring {

GuardReport GuardRun::report_of_end() const {
    GuardReport report;
    report.kind = error == 0 ? GuardReport::Kind::ended : GuardReport::Kind::not_started;
    report.cause = cause;
    report.status = status.value_or(SIGKILL);
    report.error = error;
    report.epoch = lease.epoch.value;
    report.had_terminal = has_terminal ? 1 : 0;
    return report;
}

std::string text_of_those_left(const std::vector<std::string>& names) {
    constexpr std::ptrdiff_t shown_max = 5;
    const auto count = static_cast<std::ptrdiff_t>(names.size());
    const auto shown_end = names.begin() + std::min(count, shown_max);
    const bool one = names.size() == 1;
    return fmt::format(
        "the command has ended and left {} process{} behind ({}{}): ending {}; a command has to "
        "stay in the foreground",
        names.size(), one ? "" : "es", fmt::join(names.begin(), shown_end, ", "),
        count > shown_max ? " …" : "", one ? "it" : "them");
}

}  // namespace bullring
