#include "src/base/os/bare_calls.hpp"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace bullring {

namespace {

constexpr long patience_ns = 5'000'000;

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

std::int64_t kernel_now_ns(clockid_t clock) {
    KernelTime time;
    ::syscall(SYS_clock_gettime, clock, &time);
    return std::int64_t{time.seconds} * 1'000'000'000 + time.nanoseconds;
}

bool close_all_but(std::span<int> kept, int first) {
    std::sort(kept.begin(), kept.end());
    auto from = static_cast<unsigned>(first);
    for (const int fd : kept) {
        if (fd < first) continue;
        const auto next = static_cast<unsigned>(fd);
        if (next > from && ::syscall(SYS_close_range, from, next - 1, 0U) != 0) return false;
        from = std::max(from, next + 1);
    }
    return ::syscall(SYS_close_range, from, ~0U, 0U) == 0;
}

void write_line_if_taken(int file, std::string_view before, std::string_view middle,
                         std::string_view after) {
    // A pipe that has room takes a line without waiting.
    pollfd ready{file, POLLOUT, 0};
    KernelTime patience{0, patience_ns};
    if (file < 0 || ::syscall(SYS_ppoll, &ready, 1, &patience, nullptr, 0) <= 0) return;
    const std::array<iovec, 3> line{part(before), part(middle), part(after)};
    ::syscall(SYS_writev, file, line.data(), line.size());
}

}  // namespace bullring
