#include "src/watch/lease_page.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace bullring {

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// A change takes some nanoseconds; a writer that is still in it after this many looks has stopped.
constexpr int looks_max = 10'000;

tl::expected<LeasePage*, int> mapped(int fd) {
    void* memory = ::mmap(nullptr, sizeof(LeasePage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) return tl::unexpected(errno);
    return static_cast<LeasePage*>(memory);
}

}  // namespace

void LeasePage::write(const LeaseSnapshot& snapshot) {
    const std::uint32_t before = changes_.load(std::memory_order_relaxed);
    changes_.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    epoch_.store(snapshot.epoch.value, std::memory_order_relaxed);
    boottime_ns_.store(snapshot.deadline.boottime_ns, std::memory_order_relaxed);
    raw_ns_.store(snapshot.deadline.raw_ns, std::memory_order_relaxed);
    changes_.store(before + 2, std::memory_order_release);
}

std::optional<LeaseSnapshot> LeasePage::read() const {
    for (int look = 0; look < looks_max; ++look) {
        const std::uint32_t before = changes_.load(std::memory_order_acquire);
        const LeaseSnapshot snapshot{{epoch_.load(std::memory_order_relaxed)},
                                     {boottime_ns_.load(std::memory_order_relaxed),
                                      raw_ns_.load(std::memory_order_relaxed)}};
        std::atomic_thread_fence(std::memory_order_acquire);
        if (before % 2 == 0 && changes_.load(std::memory_order_relaxed) == before) return snapshot;
    }
    return std::nullopt;
}

std::shared_ptr<LeasePage> make_private_lease_page() {
    const auto fail = [](const char* what) {
        throw std::system_error(errno, std::generic_category(), what);
    };
    void* const memory = ::mmap(nullptr, sizeof(LeasePage), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    std::shared_ptr<LeasePage> page(new (memory) LeasePage,
                                    [](LeasePage* one) { ::munmap(one, sizeof(LeasePage)); });
    // An all-zero page, as a child has it, is no leadership: there is no epoch 0.
    if (::madvise(memory, sizeof(LeasePage), MADV_WIPEONFORK) != 0) fail("madvise");
    return page;
}

tl::expected<SharedLeasePage, int> SharedLeasePage::create() {
    OwnedFd fd(::memfd_create("bullring-lease", MFD_CLOEXEC));
    if (!fd || ::ftruncate(fd.get(), sizeof(LeasePage)) != 0) return tl::unexpected(errno);
    const auto page = mapped(fd.get());
    if (!page) return tl::unexpected(page.error());
    new (*page) LeasePage;
    return SharedLeasePage(std::move(fd), *page);
}

tl::expected<SharedLeasePage, int> SharedLeasePage::map(int fd) {
    const auto page = mapped(fd);
    if (!page) return tl::unexpected(page.error());
    return SharedLeasePage(OwnedFd(), *page);
}

SharedLeasePage::~SharedLeasePage() {
    if (page_ != nullptr) ::munmap(page_, sizeof(LeasePage));
}

}  // namespace bullring
