#include "src/base/os/descriptors.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/os/bare_calls.hpp"

namespace bullring {

namespace {

// Connections that have said nothing yet, answers that are not read, observers, clients of `lead`;
// files, timers and children.
constexpr std::size_t needed_by_all = 64 + 64 + 256 + 256 + 64;
// Accepted sessions; the dialled one, its duplicate for the last word, those that linger; the
// connections of those that report the end of its last runs.
constexpr std::size_t needed_by_each_peer = 64 + 16 + 8;

constexpr std::size_t reserved_for_all = 32;
constexpr std::size_t reserved_for_each_peer = 4;

// Above what a node of a few peers has for everything else.
constexpr std::size_t ordered_from = 100;
// Of one order there are several when old ones linger.
constexpr std::size_t of_each_order = 8;

std::uint64_t limit_before = 0;
bool arranged = false;

rlimit limit_now() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
    return limit;
}

}  // namespace

std::size_t descriptors_needed(std::size_t members) {
    return needed_by_all + needed_by_each_peer * (members - 1);
}

void raise_descriptor_limit(std::size_t needed) {
    rlimit limit = limit_now();
    if (limit.rlim_cur >= needed) return;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
    // descriptor_shortage() says it when it has failed.
    if (::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit_before == 0) limit_before = before;
}

std::uint64_t descriptor_limit_before() { return limit_before; }

void set_descriptor_limit(pid_t process, std::uint64_t soft) {
    rlimit limit{};
    if (soft == 0 || ::prlimit(process, RLIMIT_NOFILE, nullptr, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>(soft, limit.rlim_max);
    ::prlimit(process, RLIMIT_NOFILE, &limit, nullptr);
}

std::optional<std::string> descriptor_shortage(std::size_t needed) {
    const rlim_t limit = limit_now().rlim_cur;
    if (limit >= needed) return std::nullopt;
    return fmt::format(
        "only {0} descriptors may be open, and this node may need {1}: strangers can keep "
        "observers out; raise the limit to {1} (ulimit -n, LimitNOFILE=)",
        limit, needed);
}

bool is_reserved_descriptor(int fd, std::size_t members) {
    const rlim_t limit = limit_now().rlim_cur;
    const rlim_t reserved =
        std::min<rlim_t>(reserved_for_all + reserved_for_each_peer * (members - 1), limit / 2);
    // The kernel gives the lowest that is free.
    return static_cast<rlim_t>(fd) >= limit - reserved;
}

void arrange_descriptors(std::size_t orders) {
    arranged = true;
    closed_in_order(OwnedFd(::epoll_create1(EPOLL_CLOEXEC)), orders);  // the table never shrinks
}

bool leave_shared_descriptors(std::vector<int> kept) {
    if (!arranged || ::unshare(CLONE_FILES) != 0) return false;
    close_all_but(kept, STDERR_FILENO + 1);
    return true;
}

OwnedFd closed_in_order(OwnedFd fd, std::size_t order) {
    if (!arranged) return fd;
    const auto from = static_cast<int>(ordered_from + of_each_order * order);
    OwnedFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, from));
    return moved ? std::move(moved) : std::move(fd);
}

}  // namespace bullring
