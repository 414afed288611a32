#include "src/base/os/startup_pages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bullring {

namespace {

/// The program itself, whose name is empty, and the libraries of its language and its log: an
/// election runs in their code, of which a page that has been given back may have to be read from
/// the disk.
constexpr std::array<std::string_view, 6> kept{"libc.so",      "libstdc++.so", "libgcc_s.so",
                                               "libspdlog.so", "libfmt.so",    "ld-linux"};

bool is_kept(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.empty() || std::any_of(kept.begin(), kept.end(), [&](std::string_view prefix) {
               return name.starts_with(prefix);
           });
}

int release(dl_phdr_info* library, std::size_t /*size*/, void* /*nothing*/) {
    if (is_kept(library->dlpi_name)) return 0;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (int i = 0; i < library->dlpi_phnum; ++i) {
        const auto& part = library->dlpi_phdr[i];
        // A writable part holds data that exist nowhere else.
        if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
        const std::uintptr_t begin = (library->dlpi_addr + part.p_vaddr) / page * page;
        const std::uintptr_t end = library->dlpi_addr + part.p_vaddr + part.p_memsz;
        // The linker gives addresses as numbers.
        void* const pages = std::bit_cast<void*>(begin);
        // It may fail where memory is locked: then it stays.
        ::madvise(pages, end - begin, MADV_DONTNEED);
    }
    return 0;
}

}  // namespace

void release_startup_pages() { ::dl_iterate_phdr(&release, nullptr); }

}  // namespace bullring
