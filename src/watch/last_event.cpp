#include "src/watch/last_event.hpp"

#include <algorithm>
#include <charconv>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/os/bare_calls.hpp"
#include "src/base/os/file_tail.hpp"
#include "src/base/text/rfc3339.hpp"

namespace bullring {

namespace {

constexpr int file_flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

constexpr long look_for_client_every_ns = 1'000'000;

/// Whether the node has written the end of that leadership, and died before it could say so.
bool has_end(std::string_view tail, const LastEventLine& line) {
    const std::size_t found = tail.rfind(line.subject());
    return found != std::string_view::npos && tail.find('\n', found) != std::string_view::npos;
}

/// Until when the leadership was held is known when the undertaker has seen the end of an attached
/// process that ends with the node. At the end of the lease nobody leads any more.
void wait_for_client(const LoopPulse& pulse) {
    while (pulse.client_until_ns.load() != 0 &&
           kernel_now_ns(CLOCK_BOOTTIME) < pulse.lease_end_ns.load()) {
        KernelTime time{0, look_for_client_every_ns};
        ::syscall(SYS_ppoll, nullptr, 0, &time, nullptr, 0);
    }
}

}  // namespace

LastEventLine::LastEventLine(const Facts& facts) {
    add(R"({"ts_ns":)");
    add(static_cast<std::uint64_t>(facts.ts_ns));
    add(R"(,"time":")");
    add(Rfc3339(facts.wall_clock_ns).text());
    add(R"(",)");
    subject_begin_ = size_;
    add(R"("node":)");
    add(facts.node);
    add(R"(,"event":"deposed","epoch":)");
    add(facts.epoch);
    add(",");
    subject_end_ = size_;
    add(R"("reason":")");
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
    if (name.empty()) return;  // another process may have to write it
    const std::uint64_t epoch = pulse.recorded.exchange(0);
    if (epoch == 0) return;
    wait_for_client(pulse);
    const LastEventLine line({kernel_now_ns(CLOCK_BOOTTIME), kernel_now_ns(CLOCK_REALTIME), node,
                              epoch, hung, pulse.held_until_ns(epoch, acted_ns)});
    const bool to_stdout = name == "-";
    // By its name: after a rotation that is the file in which the next process goes on.
    const int file =
        to_stdout ? STDOUT_FILENO
                  : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, file_flags, 0644));
    const FileTail tail(file, to_stdout ? "/proc/self/fd/1" : path);
    if (pulse.recording_end.load() != epoch || !has_end(tail.text(), line))
        write_line_if_taken(file, tail.within_line() ? "\n" : "", line.text());
    if (!to_stdout && file >= 0) ::syscall(SYS_close, file);
}

}  // namespace bullring
