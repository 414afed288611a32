// Owns: one run of a command, as its guard sees it, and how its end is reported.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "protocol/values/time.hpp"
#include "src/task/supervisor/guard_records.hpp"
#include "src/watch/lease_page.hpp"

namespace bullring {

struct GuardRun {
    enum class Phase { running, ending, killing };

    LeaseSnapshot lease;
    Phase phase = Phase::running;
    pid_t shield = 0;
    pid_t command = 0;               // and its process group; 0 before it is known
    std::vector<int> early_signals;  // for the command, from before it was known
    GuardReport::Cause cause = GuardReport::Cause::lost;
    std::optional<int> status;
    int error = 0;  // it has not started
    protocol::Instant kill_at = protocol::never;
    bool has_terminal = false;
    int looks_alone = 0;

    GuardReport report_of_end() const;
};

/// Of a command that has ended by itself, as one does that goes into the background: what is left
/// of it is not to outlive the leadership. `names`: of the processes.
std::string text_of_those_left(const std::vector<std::string>& names);

}  // namespace bullring
