// Owns: the page by which an attached process knows until when it leads: 64 bytes of memory that
// it maps and that only the node writes. The layout is a contract (bullring-attach(7)).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// In the byte order of the machine.
struct AttachPageBytes {
    std::atomic<std::uint64_t> sequence{0};  // odd while a change is under way
    std::atomic<std::uint64_t> epoch{0};     // 0: it does not lead
    std::atomic<std::int64_t> valid_until_ns{0};
    std::atomic<std::int64_t> stop_by_ns{0};
    std::array<std::uint64_t, 4> rest{};
};
static_assert(sizeof(AttachPageBytes) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

class AttachPage {
public:
    /// The error is an errno.
    static tl::expected<AttachPage, int> create();
    AttachPage(AttachPage&& other) noexcept;
    AttachPage& operator=(AttachPage&&) = delete;
    AttachPage(const AttachPage&) = delete;
    AttachPage& operator=(const AttachPage&) = delete;
    /// Those who have mapped it find that nobody leads by it, unless it was let be.
    ~AttachPage();

    /// To be sent to the process; once. Nobody can write by it, or change the size of the file.
    OwnedFd take_descriptor() { return std::move(shared_); }
    void write(protocol::Epoch epoch, std::int64_t valid_until_ns, std::int64_t stop_by_ns);

private:
    AttachPage(OwnedFd shared, AttachPageBytes* bytes)
        : shared_(std::move(shared)), bytes_(bytes) {}

    OwnedFd shared_;
    AttachPageBytes* bytes_;
};

}  // namespace bullring
