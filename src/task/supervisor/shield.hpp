// The process between a guard and its command: the command's parent, and the one that adopts
// whatever the command leaves behind. It ends when no process is left below it. It kills them all
// when the guard dies, and when the lease is about to end and neither the guard nor the node acts;
// if the shield itself dies, the kernel kills the command, and the guard kills the rest.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "src/base/os/owned_fd.hpp"
#include "src/task/address/announcement.hpp"
#include "src/task/supervisor/guard_settings.hpp"
#include "src/watch/lease_page.hpp"

namespace bullring {

/// A shield reports to its guard, one record in the pipe each.
struct ShieldReport {
    enum class Kind : std::uint32_t { started, not_started, stopped, ended };
    Kind kind = Kind::started;
    /// started: the command; not_started: an errno; stopped: the signal; ended: from waitpid().
    std::int32_t value = 0;
};

struct Shield {
    const GuardSettings& settings;
    const LeasePage& page;
    LeaseSnapshot lease;  // of this run
    int reports = -1;     // the pipe's writing end
    int guard = -1;       // a pidfd
    int progress = -1;    // becomes the command's descriptor 3; -1: none
    int policy = 0;       // of scheduling, the command's
    const Announcer& announcer;
};

/// In a new child of the guard, which has one thread and all signals blocked.
[[noreturn]] void run_shield(const Shield& shield);

}  // namespace bullring
