#include "src/watch/thread_area.hpp"

#include <link.h>

namespace bullring {

namespace {

// No module asks for more, and the C library's record of a thread takes less.
constexpr std::size_t page = 4096;

/// The variables of a module lie at the same distance from the thread pointer in every thread:
/// below it (x86-64) or above it (AArch64), and the C library's record on the other side.
std::size_t reach() {
    std::size_t bytes = page;
    ::dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* sum) {
            for (int i = 0; i < module->dlpi_phnum; ++i) {
                const auto& segment = module->dlpi_phdr[i];
                if (segment.p_type == PT_TLS)
                    *static_cast<std::size_t*>(sum) += segment.p_memsz + segment.p_align;
            }
            return 0;
        },
        &bytes);
    return (bytes + page - 1) / page * page;
}

}  // namespace

ThreadArea::ThreadArea() {
    const std::size_t side = reach();
    std::size_t space = 2 * side + page;
    memory_ = std::make_unique<std::byte[]>(space);
    void* start = memory_.get();
    std::align(page, 2 * side, start, space);
    pointer_ = static_cast<std::byte*>(start) + side;
#if defined(__x86_64__)
    // Read where another architecture reads the register: the pointer itself, twice.
    static_cast<void**>(pointer_)[0] = pointer_;
    static_cast<void**>(pointer_)[2] = pointer_;
#endif
}

}  // namespace bullring
