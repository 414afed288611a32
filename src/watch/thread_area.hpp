// Owns: an empty thread-local storage, for code that runs in this process's memory without being
// one of its threads.
#pragma once

#include <cstddef>
#include <memory>

namespace bullring {

/// The memory that two threads must not share, and that clone() with CLONE_VM and without
/// CLONE_SETTLS leaves shared: errno, and whatever a sanitizer keeps for each thread. All of it is
/// zero here, which the C library's `errno` and the sanitizers' per-thread pointers take for "none
/// yet". The C library's own list of threads knows nothing of it, so nothing may be called that
/// looks for the calling thread in it.
class ThreadArea {
public:
    /// Large enough for every module that is loaded now.
    ThreadArea();

    /// For clone() with CLONE_SETTLS. It lives as long as who uses it.
    void* pointer() const { return pointer_; }

private:
    std::unique_ptr<std::byte[]> memory_;
    void* pointer_;
};

}  // namespace bullring
