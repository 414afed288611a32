#include "src/base/text/failure_text.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace bullring {

namespace {

/// Which limit the system means; empty where it means none.
std::string with_limit(std::string reason, std::string_view limit) {
    return limit.empty() ? reason : fmt::format("{}; {}", reason, limit);
}

/// Which limit of files the system means; empty where it means none.
std::string_view limit_of_files(int error) {
    if (error == EMFILE) return "the limit of open files (ulimit -n, LimitNOFILE=) is reached";
    if (error == ENFILE) return "the machine has no more open files (sysctl fs.file-max)";
    return {};
}

}  // namespace

std::string reason_text(int error) {
    return with_limit(std::generic_category().message(error), limit_of_files(error));
}

std::string failure_text(const std::exception& failure) {
    const auto* const of_system = dynamic_cast<const std::system_error*>(&failure);
    if (of_system == nullptr) return failure.what();
    std::string text = failure.what();
    const std::error_code& code = of_system->code();
    // Of a thread or a process that can't be made: what is not ready yet is no exception.
    if (code == std::errc::resource_unavailable_try_again) {
        if (text == code.message()) text = "cannot start a thread: " + text;  // as std::thread says
        return with_limit(
            std::move(text),
            "a limit of processes and threads (ulimit -u, TasksMax=, pids.max) is reached");
    }
    return with_limit(std::move(text), limit_of_files(code.value()));
}

}  // namespace bullring
