#include "src/base/os/children.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include "src/base/os/watch_child.hpp"

namespace bullring {

namespace {

/// The mutex is held from before a child exists until it is known: it may die at once.
struct Own {
    std::mutex mutex;
    std::set<pid_t> awaited;
    std::set<pid_t> others;
};

Own& own() {
    static Own& instance = *new Own;  // never destroyed: threads may outlive main()
    return instance;
}

/// Waits, if `options` let it, for a child that has a status, and leaves that where it is. 0: none.
pid_t find_dead(idtype_t kind, pid_t child, int options) {
    siginfo_t found{};
    while (::waitid(kind, static_cast<id_t>(child), &found, WEXITED | WNOWAIT | options) < 0) {
        if (errno != EINTR) return 0;
    }
    return found.si_pid;
}

}  // namespace

tl::expected<pid_t, int> spawn_child(const char* program, const posix_spawn_file_actions_t* files,
                                     const posix_spawnattr_t* attributes, char* const* arguments,
                                     char* const* environment) {
    const std::lock_guard lock(own().mutex);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, program, files, attributes, arguments, environment);
    if (error != 0) return tl::unexpected(error);
    own().awaited.insert(child);
    return child;
}

int wait_for_child(pid_t child) {
    find_dead(P_PID, child, 0);
    // Its number may be another child's as soon as it has been waited for.
    const std::lock_guard lock(own().mutex);
    int status = 0;
    pid_t found = 0;
    while ((found = ::waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    own().awaited.erase(child);
    return found == child ? status : status_unknown;
}

bool child_ends_within(pid_t child, protocol::Duration time) {
    return watch_child(child, {}, static_cast<int>(time.ns / 1'000'000)) == ChildWatch::ended;
}

void count_as_own(const std::vector<pid_t>& children) {
    const std::lock_guard lock(own().mutex);
    own().others.insert(children.begin(), children.end());
}

void forget_own(pid_t child) {
    const std::lock_guard lock(own().mutex);
    own().others.erase(child);
}

std::vector<pid_t> own_children() {
    const std::lock_guard lock(own().mutex);
    std::vector<pid_t> all(own().awaited.begin(), own().awaited.end());
    all.insert(all.end(), own().others.begin(), own().others.end());
    return all;
}

bool reap_orphans() {
    // While a thread starts a child, which takes a moment, there is nothing to be waited for here.
    const std::unique_lock lock(own().mutex, std::try_to_lock);
    if (!lock) return false;
    while (const pid_t dead = find_dead(P_ALL, 0, WNOHANG)) {
        // The kernel shows the same one until its status has been taken.
        if (own().awaited.contains(dead)) return false;
        int status = 0;
        ::waitpid(dead, &status, WNOHANG);
        own().others.erase(dead);  // its number may be anybody's now
    }
    return true;
}

}  // namespace bullring
