#include "src/os/failure_text.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace bullring {

namespace {

/// Which limit the system means; empty where it means none.
std::string_view limit_behind(int error) {
    switch (error) {
        case EMFILE: return "the limit of open files (ulimit -n, LimitNOFILE=) is reached";
        case ENFILE: return "the machine has no more open files (sysctl fs.file-max)";
        // Of threads and processes only: what waits for a descriptor is no failure.
        case EAGAIN:
            return "a limit of processes and threads (ulimit -u, TasksMax=, pids.max) is reached";
        default: return {};
    }
}

}  // namespace

std::string reason_text(int error) {
    const std::string_view limit = limit_behind(error);
    const std::string reason = std::generic_category().message(error);
    return limit.empty() ? reason : fmt::format("{}; {}", reason, limit);
}

std::string failure_text(const std::exception& failure) {
    const auto* const of_system = dynamic_cast<const std::system_error*>(&failure);
    if (of_system == nullptr) return failure.what();
    std::string text = failure.what();
    // std::thread does not say what has failed.
    if (of_system->code() == std::errc::resource_unavailable_try_again &&
        text == of_system->code().message())
        text = "cannot start a thread: " + text;
    const std::string_view limit = limit_behind(of_system->code().value());
    return limit.empty() ? text : fmt::format("{}; {}", text, limit);
}

}  // namespace bullring
