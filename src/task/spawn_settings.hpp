// Owns: what the processes that this program starts have in common: a process group of their own,
// and no signal handled or ignored.
#pragma once

#include <signal.h>
#include <spawn.h>

namespace bullring {

class SpawnSettings {
public:
    /// `blocked`: the signals that the new process begins with blocked.
    explicit SpawnSettings(const sigset_t& blocked) {
        posix_spawnattr_init(&attributes_);
        posix_spawn_file_actions_init(&files_);
        sigset_t all;
        ::sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes_, &blocked);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(&attributes_,
                                 static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF));
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&files_);
        posix_spawnattr_destroy(&attributes_);
    }

    posix_spawn_file_actions_t* files() { return &files_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
    posix_spawn_file_actions_t files_{};
};

}  // namespace bullring
