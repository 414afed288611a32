// Owns: what another process says in its dead node's name, and to whom: the frame by which the node
// itself would resign its epoch, on duplicates of the node's sessions. Without allocations: it may
// be the copy of a process that had many threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <sys/socket.h>

#include "protocol/values/membership.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

class LastWord {
public:
    static constexpr std::size_t bytes_max = 96;

    /// At most bytes_max.
    void set(std::span<const std::byte> frame) {
        bytes_ = std::min(frame.size(), bytes_max);
        std::copy_n(frame.begin(), bytes_, frame_.begin());
    }
    /// By the node's numbers. One for which there is no room is said nothing on.
    void keep(std::uint64_t session, OwnedFd duplicate) {
        const auto free = std::find_if(sessions_.begin(), sessions_.end(),
                                       [](const Session& one) { return !one.duplicate; });
        if (free != sessions_.end()) *free = {session, std::move(duplicate)};
    }
    void forget(std::uint64_t session) {
        for (Session& one : sessions_)
            if (one.number == session) one.duplicate = OwnedFd();
    }
    void forget_all() { sessions_ = {}; }

    /// The voters need not wait for the end of the lease then; nor for a node that seems connected
    /// for as long as its sessions are open here.
    void say() const {
        for (const Session& one : sessions_) {
            if (!one.duplicate) continue;
            // A peer whose session has no room for it waits for the end of the lease; and so does
            // one that finds it in the middle of a frame, by the checksum.
            if (::send(one.duplicate.get(), frame_.data(), bytes_, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                continue;
            ::shutdown(one.duplicate.get(), SHUT_WR);
        }
    }

private:
    struct Session {
        std::uint64_t number = 0;
        OwnedFd duplicate{};
    };
    /// One that is made anew may come before the end of the one that it replaces.
    std::array<Session, 2 * protocol::members_max> sessions_;
    std::array<std::byte, bytes_max> frame_{};
    std::size_t bytes_ = 0;
};

}  // namespace bullring
