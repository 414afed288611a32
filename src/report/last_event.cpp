#include "src/report/last_event.hpp"

#include <algorithm>
#include <charconv>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/os/bare_calls.hpp"
#include "src/os/rfc3339.hpp"

namespace bullring {

LastEventLine::LastEventLine(const Facts& facts) {
    add(R"({"ts_ns":)");
    add(static_cast<std::uint64_t>(facts.ts_ns));
    add(R"(,"time":")");
    add(Rfc3339(facts.wall_clock_ns).text());
    add(R"(","node":)");
    add(facts.node);
    add(R"(,"event":"deposed","epoch":)");
    add(facts.epoch);
    add(R"(,"reason":")");
    add(facts.hung ? "hung" : "died");
    add(R"(","held_until_ns":)");
    add(static_cast<std::uint64_t>(facts.held_until_ns));
    add("}\n");
}

void LastEventLine::add(std::string_view part) {
    std::copy(part.begin(), part.end(), text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += part.size();
}

void LastEventLine::add(std::uint64_t number) {
    char* const begin = text_.data() + size_;
    size_ = static_cast<std::size_t>(std::to_chars(begin, text_.data() + text_.size(), number).ptr -
                                     text_.data());
}

void tell_last_event(LoopPulse& pulse, const char* path, std::uint64_t node, bool hung,
                     std::int64_t acted_ns) {
    const std::string_view name = path;
    if (name.empty()) return;  // another process may have to tell it
    const std::uint64_t epoch = pulse.told.exchange(0);
    if (epoch == 0) return;
    const LastEventLine line({kernel_now_ns(CLOCK_BOOTTIME), kernel_now_ns(CLOCK_REALTIME), node,
                              epoch, hung, pulse.held_until_ns(acted_ns)});
    const bool to_stdout = name == "-";
    const int file =
        to_stdout
            ? STDOUT_FILENO
            : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path,
                                         O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    write_line_if_taken(file, line.text());
    if (!to_stdout && file >= 0) ::syscall(SYS_close, file);
}

}  // namespace bullring
