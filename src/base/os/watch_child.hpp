// Owns: waiting for the end of a child process and for something else at once, also where no
// descriptor is left for it.
#pragma once

#include <initializer_list>

#include <sys/types.h>

namespace bullring {

enum class ChildWatch {
    ended,  // and has not been reaped yet
    woken,  // one of the others is readable
    timeout,
};

/// `others`: at most three; `timeout_ms` −1: for ever.
ChildWatch watch_child(pid_t child, std::initializer_list<int> others, int timeout_ms);

}  // namespace bullring
