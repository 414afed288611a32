// Owns: the data directory: its lock, and the one file of durable state in it (PROTOCOL §2, A4,
// A6). Must never take damage for a fresh start: only a file that is not there means "none".
// Blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/state.hpp"
#include "protocol/values/time.hpp"
#include "src/os/owned_fd.hpp"

namespace bullring {

/// Whose state it is. A file of another one is refused.
struct StateIdentity {
    std::string cluster;
    std::vector<protocol::NodeId> members;  // ascending
    protocol::NodeId self;
};

class StateDirectory {
public:
    /// Makes the directory as needed (0700) and takes its lock, for which it waits at most
    /// `lock_wait`: the process before this one may be about to end. Errors are for people.
    static tl::expected<StateDirectory, std::string> open(const std::string& path,
                                                          StateIdentity identity,
                                                          protocol::Duration lock_wait);

    /// The directory is locked for as long as a duplicate of this is open. Not the caller's.
    int lock() const { return lock_.get(); }

    /// nullopt when there is no file.
    tl::expected<std::optional<protocol::Durable>, std::string> load() const;
    /// Returns when it is on the disk: temporary file, fsync, rename, fsync of the directory.
    tl::expected<void, std::string> save(const protocol::Durable& durable) const;

private:
    StateDirectory(std::string path, StateIdentity identity, OwnedFd directory, OwnedFd lock)
        : path_(std::move(path)),
          identity_(std::move(identity)),
          directory_(std::move(directory)),
          lock_(std::move(lock)) {}

    std::string path_;
    StateIdentity identity_;
    OwnedFd directory_;  // for fsync
    OwnedFd lock_;       // flock()ed while it is open
};

/// The file's bytes: magic, format version, identity, state, CRC-32 of all before. Big-endian.
std::vector<std::byte> encode_state(const StateIdentity& identity,
                                    const protocol::Durable& durable);
/// The error says what is damaged, or what differs.
tl::expected<protocol::Durable, std::string> decode_state(const StateIdentity& identity,
                                                          const std::vector<std::byte>& bytes);

}  // namespace bullring
