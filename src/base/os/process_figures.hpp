// Owns: the kernel's figures of this process as a whole: the figures that Prometheus' client
// libraries export as process_*.
#pragma once

#include <cstdint>
#include <optional>

namespace bullring {

struct ProcessFigures {
    double cpu_seconds = 0;
    double start_time_seconds = 0;  // since 1970, by the wall clock as it is now
    std::uint64_t resident_bytes = 0;
    std::uint64_t virtual_bytes = 0;
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;
};

/// Reads /proc/self: nothing where it can't be read. Any thread.
std::optional<ProcessFigures> process_figures();

}  // namespace bullring
