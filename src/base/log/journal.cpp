#include "src/base/log/journal.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bullring {

bool is_journal(int fd) {
    const char* const named = std::getenv("JOURNAL_STREAM");
    struct stat found {};
    return named != nullptr && ::fstat(fd, &found) == 0 &&
           fmt::format("{}:{}", found.st_dev, found.st_ino) == named;
}

std::string_view journal_prefix(LogLevel level) {
    static const bool journal = is_journal(STDERR_FILENO);
    if (!journal) return "";
    switch (level) {
        case LogLevel::trace:
        case LogLevel::debug: return "<7>";
        case LogLevel::info: return "<6>";
        case LogLevel::warn: return "<4>";
        case LogLevel::error: break;
    }
    return "<3>";
}

}  // namespace bullring
