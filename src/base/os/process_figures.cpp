#include "src/base/os/process_figures.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <sstream>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

// Of proc_pid_stat(5), counted from the state, which follows the name: 3 is the first.
constexpr std::size_t utime = 14 - 3;
constexpr std::size_t stime = 15 - 3;
constexpr std::size_t starttime = 22 - 3;
constexpr std::size_t vsize = 23 - 3;
constexpr std::size_t rss = 24 - 3;
constexpr std::size_t fields_read = rss + 1;

double seconds_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

/// Of the table of the process's first thread: a thread that has one of its own is not counted.
std::uint64_t count_open_fds() {
    const std::unique_ptr<DIR, CloseDirectory> all(::opendir("/proc/self/fd"));
    std::uint64_t count = 0;
    while (all != nullptr) {
        const dirent* const one = ::readdir(all.get());
        if (one == nullptr) break;
        // "." and "..", and the one by which they are counted.
        const bool counts = one->d_name[0] != '.' && std::atoi(one->d_name) != ::dirfd(all.get());
        count += counts ? 1 : 0;
    }
    return count;
}

std::string stat_line() {
    const OwnedFd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
    char text[1024] = {};
    if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return {};
    return text;
}

}  // namespace

std::optional<ProcessFigures> process_figures() {
    const std::string text = stat_line();
    // A name may have blanks and brackets.
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream words(text.substr(name_end + 1));
    std::array<std::string, fields_read> fields;
    for (std::string& field : fields)
        if (!(words >> field)) return std::nullopt;
    const auto number = [&](std::size_t field) {
        return std::strtoull(fields[field].c_str(), nullptr, 10);
    };
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    ProcessFigures figures;
    figures.cpu_seconds = static_cast<double>(number(utime) + number(stime)) / ticks;
    const double age = seconds_of(CLOCK_BOOTTIME) - static_cast<double>(number(starttime)) / ticks;
    figures.start_time_seconds = seconds_of(CLOCK_REALTIME) - age;
    figures.virtual_bytes = number(vsize);
    figures.resident_bytes = number(rss) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    figures.open_fds = count_open_fds();
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) figures.max_fds = limit.rlim_cur;
    return figures;
}

}  // namespace bullring
