#include "src/watch/thread_view.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bullring {

namespace {

/// In a namespace of processes without a /proc of its own, the numbers in /proc are others'.
bool is_own_proc() {
    std::array<char, 16> number{};
    const ssize_t size = ::readlink("/proc/self", number.data(), number.size());
    return size > 0 && std::string_view(number.data(), static_cast<std::size_t>(size)) ==
                           std::to_string(::getpid());
}

OwnedFd open_file(pid_t process, pid_t thread, const char* name) {
    if (!is_own_proc()) return OwnedFd();
    const std::string path = fmt::format("/proc/{}/task/{}/{}", process, thread, name);
    return OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

using Text = std::array<char, 128>;

std::string_view read_start(int fd, Text& text) {
    const long count = ::syscall(SYS_pread64, fd, text.data(), text.size(), 0, 0, 0);
    return {text.data(), count < 0 ? 0 : static_cast<std::size_t>(count)};
}

}  // namespace

ThreadView::ThreadView(pid_t process, pid_t thread)
    : stat_(open_file(process, thread, "stat")),
      schedstat_(open_file(process, thread, "schedstat")) {}

std::optional<ThreadLook> ThreadView::look() const {
    if (!stat_) return std::nullopt;
    ThreadLook look;
    Text text;
    // "7 (its name) S …": a name may have brackets, of at most 15 bytes.
    const std::string_view stat = read_start(stat_.get(), text);
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return std::nullopt;
    look.state = stat[name_end + 2];
    if (!schedstat_ || look.state != 'R') return look;
    const std::string_view schedstat = read_start(schedstat_.get(), text);
    std::from_chars(schedstat.data(), schedstat.data() + schedstat.size(), look.ran_ns);
    return look;
}

}  // namespace bullring
