// Owns: what a process can do that shares the memory of another one, and so must not call what the
// C library keeps state for: system calls alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <time.h>

namespace bullring {

/// As the kernel has it, whatever the C library's is.
struct KernelTime {
    long seconds = 0;
    long nanoseconds = 0;
};

std::int64_t kernel_now_ns(clockid_t clock);

/// Closes all descriptors from `first` on but these, which it sorts; a number below 0 stands for
/// none. False when the kernel refuses.
bool close_all_but(std::span<int> kept, int first = 0);

/// Writes a line in one piece, if its reader takes it within some milliseconds.
void write_line_if_taken(int file, std::string_view before, std::string_view middle = {},
                         std::string_view after = {});

}  // namespace bullring
