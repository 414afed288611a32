#include "src/task/supervisor/descendants.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bullring {

namespace {

struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool dead = false;  // a zombie
    std::string name;
};

/// nullopt when it is gone, and when it could not be looked at: then `unsure` is set.
std::optional<Process> look_at(pid_t pid, bool& unsure) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[1024] = {};
    if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) {
        unsure = unsure || (errno != ENOENT && errno != ESRCH);
        return std::nullopt;
    }
    // pid (name) state ppid pgrp … num_threads, the 20th; the name may hold anything.
    const char* after_name = std::strrchr(text, ')');
    Process process;
    process.pid = pid;
    char state = 0;
    int parent = 0;
    int group = 0;
    int threads = 0;
    if (after_name == nullptr ||
        std::sscanf(after_name + 1,
                    " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &state,
                    &parent, &group, &threads) != 4) {
        unsure = true;
        return std::nullopt;
    }
    const char* const name = std::strchr(text, '(');
    if (name != nullptr && name < after_name) process.name.assign(name + 1, after_name);
    process.parent = parent;
    process.group = group;
    // One whose first thread has ended looks like a zombie while others run on.
    process.dead = (state == 'Z' || state == 'X') && threads <= 1;
    return process;
}

std::vector<Process> all_processes(bool& unsure) {
    std::vector<Process> all;
    DIR* proc = ::opendir("/proc");
    if (proc == nullptr) {
        unsure = true;
        return all;
    }
    while (const dirent* entry = ::readdir(proc)) {
        const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        if (pid <= 0) continue;
        if (const auto process = look_at(pid, unsure)) all.push_back(*process);
    }
    ::closedir(proc);
    return all;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
    return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

/// Parents before their children.
std::vector<Process> descendants_of(pid_t ancestor, const std::vector<pid_t>& not_below,
                                    bool& unsure) {
    const std::vector<Process> all = all_processes(unsure);
    std::vector<Process> found;
    std::vector<pid_t> parents{ancestor};
    for (std::size_t next = 0; next < parents.size(); ++next) {
        for (const Process& process : all) {
            if (process.parent != parents[next] || contains(parents, process.pid)) continue;
            found.push_back(process);
            if (!contains(not_below, process.pid)) parents.push_back(process.pid);
        }
    }
    return found;
}

/// Only if it is still the process that was looked at: its number may be another's by now.
void signal_one(const Process& process, int signal) {
    const OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
    if (!handle) return;
    bool unsure = false;
    const auto now = look_at(process.pid, unsure);
    // An orphan has got another parent, which is one of those that adopt.
    if (!now || now->dead || now->group != process.group) return;
    ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
}

}  // namespace

std::size_t kill_descendants(pid_t ancestor, const std::vector<pid_t>& spared,
                             bool spare_their_children) {
    std::size_t alive = 0;
    bool unsure = false;
    for (const Process& process :
         descendants_of(ancestor, spare_their_children ? spared : std::vector<pid_t>{}, unsure)) {
        if (process.dead || contains(spared, process.pid)) continue;
        ++alive;
        signal_one(process, SIGKILL);
    }
    return unsure ? alive + 1 : alive;
}

std::vector<std::string> signal_descendants(pid_t ancestor, int signal, pid_t except_group,
                                            const std::vector<pid_t>& spared) {
    std::vector<std::string> names;
    bool unsure = false;
    for (const Process& process : descendants_of(ancestor, {}, unsure)) {
        if (process.dead || process.group == except_group || contains(spared, process.pid))
            continue;
        signal_one(process, signal);
        names.push_back(process.name);
    }
    return names;
}

bool reap_all_children() {
    int status = 0;
    pid_t child = 0;
    while ((child = ::waitpid(-1, &status, WNOHANG)) > 0) {
    }
    return child == 0;
}

std::vector<pid_t> children_of_this_process() {
    std::vector<pid_t> children;
    const pid_t self = ::getpid();
    bool unsure = false;
    for (const Process& process : all_processes(unsure))
        if (process.parent == self) children.push_back(process.pid);
    return children;
}

OwnedFd child_ends() {
    sigset_t children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    return OwnedFd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace bullring
