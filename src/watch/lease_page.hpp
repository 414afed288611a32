// Owns: the pair (epoch, deadline) that says until when a leadership lasts, as one snapshot that
// any thread, and any process that maps it, can read without a lock (PROTOCOL R3). An old epoch
// with a new deadline would be a split brain, so a reader never sees half of a change.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "protocol/values/actions.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

struct LeaseSnapshot {
    protocol::Epoch epoch;  // 0: nobody leads here
    protocol::Instant deadline = protocol::long_ago;
    bool operator==(const LeaseSnapshot&) const = default;
};

class LeasePage {
public:
    /// Of the node that writes this page.
    LoopPulse& pulse() { return pulse_; }

    /// One thread.
    void write(const LeaseSnapshot& snapshot);
    /// nullopt when the writer has stopped in the middle of a change, as a suspended process has.
    std::optional<LeaseSnapshot> read() const;

    /// The process that sees to the end of the command when its guard has died
    /// (src/task/supervisor/shield.hpp); 0: none. Any process that maps this page.
    void set_shield(pid_t shield) { shield_.store(shield); }
    pid_t shield() const { return shield_.load(); }

private:
    std::atomic<std::uint32_t> changes_{0};  // odd while one is under way
    std::atomic<std::uint64_t> epoch_{0};
    std::atomic<std::int64_t> boottime_ns_{protocol::long_ago.boottime_ns};
    std::atomic<std::int64_t> raw_ns_{protocol::long_ago.raw_ns};
    std::atomic<pid_t> shield_{0};
    LoopPulse pulse_;
};

/// A page for this process alone. A child of it leads nothing, by whatever call it was made
/// (fork(), _Fork(), clone()): in the child's memory the page is empty. Throws std::system_error.
std::shared_ptr<LeasePage> make_private_lease_page();

/// A page in memory that another process can map, too.
class SharedLeasePage {
public:
    static tl::expected<SharedLeasePage, int> create();
    /// Maps a page that another process has created; the descriptor stays the caller's.
    static tl::expected<SharedLeasePage, int> map(int fd);
    SharedLeasePage(SharedLeasePage&& other) noexcept
        : fd_(std::move(other.fd_)), page_(std::exchange(other.page_, nullptr)) {}
    SharedLeasePage& operator=(SharedLeasePage&&) = delete;
    SharedLeasePage(const SharedLeasePage&) = delete;
    SharedLeasePage& operator=(const SharedLeasePage&) = delete;
    ~SharedLeasePage();

    LeasePage& operator*() const { return *page_; }
    LeasePage* operator->() const { return page_; }
    /// -1 for a page that was mapped.
    int fd() const { return fd_.get(); }

private:
    SharedLeasePage(OwnedFd fd, LeasePage* page) : fd_(std::move(fd)), page_(page) {}

    OwnedFd fd_;
    LeasePage* page_;
};

}  // namespace bullring
