#include "src/os/startup_pages.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bullring {

namespace {

int release(dl_phdr_info* library, std::size_t /*size*/, void* /*nothing*/) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const auto& part = library->dlpi_phdr[i];
        // What may be written to holds what is nowhere else.
        if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
        const std::uintptr_t begin = (library->dlpi_addr + part.p_vaddr) / page * page;
        const std::uintptr_t end = library->dlpi_addr + part.p_vaddr + part.p_memsz;
        // The linker tells addresses as numbers.
        void* const pages = std::bit_cast<void*>(begin);
        // It may fail where memory is locked: then it stays.
        ::madvise(pages, end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void release_startup_pages() { ::dl_iterate_phdr(&release, nullptr); }

}  // namespace bullring
