#include "src/task/attach/attach_page.hpp"

#include <cerrno>
#include <new>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace bullring {

tl::expected<AttachPage, int> AttachPage::create() {
    constexpr std::size_t size = sizeof(AttachPageBytes);
    const OwnedFd file(::memfd_create("bullring-attach", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || ::ftruncate(file.get(), size) != 0) return tl::unexpected(errno);
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) return tl::unexpected(errno);
    AttachPage page(OwnedFd(), new (memory) AttachPageBytes);
    // From here on no other mapping of it can be written.
    constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    if (::fcntl(file.get(), F_ADD_SEALS, seals) != 0) return tl::unexpected(errno);
    page.shared_ =
        OwnedFd(::open(fmt::format("/proc/self/fd/{}", file.get()).c_str(), O_RDONLY | O_CLOEXEC));
    if (!page.shared_) return tl::unexpected(errno);
    return page;
}

AttachPage::AttachPage(AttachPage&& other) noexcept
    : shared_(std::move(other.shared_)), bytes_(std::exchange(other.bytes_, nullptr)) {}

AttachPage::~AttachPage() {
    if (bytes_ == nullptr) return;
    write({}, 0, 0);
    ::munmap(bytes_, sizeof(AttachPageBytes));
}

void AttachPage::write(protocol::Epoch epoch, std::int64_t valid_until_ns,
                       std::int64_t stop_by_ns) {
    const std::uint64_t before = bytes_->sequence.load(std::memory_order_relaxed);
    bytes_->sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    bytes_->epoch.store(epoch.value, std::memory_order_relaxed);
    bytes_->valid_until_ns.store(valid_until_ns, std::memory_order_relaxed);
    bytes_->stop_by_ns.store(stop_by_ns, std::memory_order_relaxed);
    bytes_->sequence.store(before + 2, std::memory_order_release);
}

}  // namespace bullring
