// Owns: the data directory: its lock, and the one file of durable state in it (PROTOCOL §2, A4,
// A6). Must never take damage for a fresh start: only a file that is not there means "none".
// Blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/state.hpp"
#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

/// Whose state it is. A file of another one is refused.
struct StateIdentity {
    std::string cluster;
    protocol::NodeId self;
};

class StateDirectory {
public:
    /// Makes the directory as needed (0700) and takes its lock, for which it waits at most
    /// `lock_wait`: the process before this one may be about to end. Errors are for people.
    static tl::expected<StateDirectory, std::string> open(const std::string& path,
                                                          StateIdentity identity,
                                                          protocol::Duration lock_wait);

    /// The report for a caller that only looks.
    struct Sight {
        std::optional<std::string> in_use;  // by whom, for people
        std::optional<protocol::Durable> state;
    };
    /// Of a directory that is there. Changes nothing, and takes no lock for longer than a moment.
    /// The error says why a node could not use it.
    static tl::expected<Sight, std::string> look_at(const std::string& path,
                                                    const StateIdentity& identity);

    static constexpr const char* state_name = state_file_name;
    static constexpr const char* lock_name = lock_file_name;

    /// The directory is locked for as long as a duplicate of each of these is open: the file, by
    /// which earlier versions go, and the directory itself, whose lock nobody can remove and which
    /// keeps systemd-tmpfiles(8) out. A file system that has no locks for directories, as NFS, has
    /// the first alone. Not the caller's.
    std::vector<int> locks() const;

    /// nullopt when there is no file.
    tl::expected<std::optional<protocol::Durable>, std::string> load() const;
    const std::string& path() const { return path_; }
    /// Its path leads to it, and not to what was mounted there, or made there, since.
    bool is_at_its_path() const;
    /// The one that its path leads to, made as needed; the error says why it can't be had.
    tl::expected<StateDirectory, std::string> at_its_path() const {
        return open(path_, identity_, {});
    }

    /// Returns when it is on the disk: temporary file, fsync, rename, fsync of the directory.
    tl::expected<void, std::string> save(const protocol::Durable& durable) const;

    /// The result of put_back().
    struct PutBack {
        std::vector<std::string> names;     // of files that are there again
        std::vector<std::string> problems;  // one sentence for each that is not
    };
    /// For files that somebody else has removed; `last`: what the state was, if there was any. The
    /// error: another process uses the directory by now, where that has no lock of its own.
    tl::expected<PutBack, std::string> put_back(const std::optional<protocol::Durable>& last) const;

private:
    StateDirectory(std::string path, StateIdentity identity, OwnedFd directory, OwnedFd lock,
                   bool directory_is_locked)
        : path_(std::move(path)),
          identity_(std::move(identity)),
          directory_(std::move(directory)),
          lock_(std::move(lock)),
          directory_is_locked_(directory_is_locked) {}
    bool has_its_lock() const;
    bool has_its_state() const;

    std::string path_;
    StateIdentity identity_;
    OwnedFd directory_;  // for fsync, and flock()ed where that is possible
    OwnedFd lock_;       // flock()ed while it is open
    bool directory_is_locked_;
};

/// The file's bytes: magic, format version, cluster, ids of the members, own id, state, the tag and
/// the entries of the list of members, the cluster's id, CRC-32 of all before. Big-endian.
std::vector<std::byte> encode_state(const StateIdentity& identity,
                                    const protocol::Durable& durable);
/// The error says what is damaged, or what differs.
tl::expected<protocol::Durable, std::string> decode_state(const StateIdentity& identity,
                                                          const std::vector<std::byte>& bytes);

}  // namespace bullring
