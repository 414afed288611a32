// Owns: what a guard says in its dead node's name, and to whom: the frame by which the node itself
// would resign its epoch, on duplicates of the node's sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

class LastWord {
public:
    void set(std::span<const std::byte> frame) { frame_.assign(frame.begin(), frame.end()); }
    void keep(std::uint64_t session, OwnedFd duplicate) {
        sessions_.insert_or_assign(session, std::move(duplicate));
    }
    void forget(std::uint64_t session) { sessions_.erase(session); }
    void forget_all() { sessions_.clear(); }

    /// The voters need not wait for the end of the lease then; nor for a node that seems connected
    /// for as long as its sessions are open here.
    void say() const {
        for (const auto& [number, session] : sessions_) {
            // A peer whose session has no room for it waits for the end of the lease; and so does
            // one that finds it in the middle of a frame, by the checksum.
            if (::send(session.get(), frame_.data(), frame_.size(), MSG_NOSIGNAL | MSG_DONTWAIT) <
                0)
                continue;
            ::shutdown(session.get(), SHUT_WR);
        }
    }

private:
    std::map<std::uint64_t, OwnedFd> sessions_;  // by the node's numbers
    std::vector<std::byte> frame_;
};

}  // namespace bullring
