#include "src/supervisor/descendants.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/net/owned_fd.hpp"

namespace bullring {

namespace {

struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
    bool dead = false;  // a zombie
};

/// nullopt when it is gone.
std::optional<Process> look_at(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[512] = {};
    if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return std::nullopt;
    // pid (name) state ppid pgrp …; the name may hold anything.
    const char* after_name = std::strrchr(text, ')');
    if (after_name == nullptr) return std::nullopt;
    Process process{.pid = pid};
    char state = 0;
    int parent = 0;
    int group = 0;
    if (std::sscanf(after_name + 1, " %c %d %d", &state, &parent, &group) != 3) return std::nullopt;
    process.parent = parent;
    process.group = group;
    process.dead = state == 'Z' || state == 'X';
    return process;
}

std::vector<Process> all_processes() {
    std::vector<Process> all;
    DIR* proc = ::opendir("/proc");
    if (proc == nullptr) return all;
    while (const dirent* entry = ::readdir(proc)) {
        const pid_t pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
        if (pid <= 0) continue;
        if (const auto process = look_at(pid)) all.push_back(*process);
    }
    ::closedir(proc);
    return all;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
    return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

/// Parents before their children.
std::vector<Process> descendants_of(pid_t ancestor, const std::vector<pid_t>& not_below) {
    const std::vector<Process> all = all_processes();
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
    const auto now = look_at(process.pid);
    // An orphan has got another parent, which is one of those that adopt.
    if (!now || now->dead || now->group != process.group) return;
    ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
}

}  // namespace

std::size_t kill_descendants(pid_t ancestor, const std::vector<pid_t>& spared,
                             bool spare_their_children) {
    std::size_t alive = 0;
    for (const Process& process :
         descendants_of(ancestor, spare_their_children ? spared : std::vector<pid_t>{})) {
        if (process.dead || contains(spared, process.pid)) continue;
        ++alive;
        signal_one(process, SIGKILL);
    }
    return alive;
}

void signal_descendants(pid_t ancestor, int signal, pid_t except_group,
                        const std::vector<pid_t>& spared) {
    for (const Process& process : descendants_of(ancestor, {})) {
        if (process.dead || process.group == except_group || contains(spared, process.pid))
            continue;
        signal_one(process, signal);
    }
}

bool reap_children(const std::vector<pid_t>& spared) {
    bool others = false;
    const pid_t self = ::getpid();
    for (const Process& process : descendants_of(self, {})) {
        if (process.parent != self || contains(spared, process.pid)) continue;
        int status = 0;
        if (!process.dead || ::waitpid(process.pid, &status, WNOHANG) == 0) others = true;
    }
    return others;
}

}  // namespace bullring
