// The data directory.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/node/storage/state_file.hpp"

namespace bullring::doctor {

namespace {

constexpr int writes = 5;

std::string reason() { return std::generic_category().message(errno); }

/// The directory, or the nearest one above it that is there: it would be made in that.
std::filesystem::path nearest_there(std::filesystem::path path) {
    std::error_code ignored;
    while (!std::filesystem::exists(path, ignored) && path.has_relative_path())
        path = path.has_parent_path() ? path.parent_path() : ".";
    return path;
}

/// How long it takes until a small file is on the disk: the median; nothing where none can be made.
std::optional<protocol::Duration> sync_time(const std::string& directory) {
    std::string name = directory + "/.bullring-doctor-XXXXXX";
    const OwnedFd file(::mkostemp(name.data(), O_CLOEXEC));
    if (!file) return std::nullopt;
    ::unlink(name.c_str());
    const std::array<char, 512> block{};
    std::vector<std::int64_t> times;
    for (int i = 0; i < writes; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        if (::pwrite(file.get(), block.data(), block.size(), 0) < 0) return std::nullopt;
        if (::fsync(file.get()) != 0) return std::nullopt;
        times.push_back((std::chrono::steady_clock::now() - begin).count());
    }
    std::nth_element(times.begin(), times.begin() + writes / 2, times.end());
    return protocol::Duration{times[writes / 2]};
}

void check_disk(const std::string& subject, const NodeOptions& options,
                const std::string& directory, Findings& findings) {
    struct ::statfs system {};
    if (::statfs(directory.c_str(), &system) == 0) {
        const auto kind = static_cast<unsigned long>(system.f_type);
        if (kind == TMPFS_MAGIC || kind == RAMFS_MAGIC)
            findings.warn(subject, "it is in memory: a reboot loses it",
                          "a member that has lost its state votes for nobody for a while; put it "
                          "on a disk");
        else if (kind == OVERLAYFS_SUPER_MAGIC)
            findings.warn(subject,
                          "it is in a container's own layer: with the container it is gone",
                          "put it on a volume");
    }
    const auto time = sync_time(directory);
    if (!time)
        return findings.fail(subject, "no file can be written there: " + reason(),
                             "give a --data-dir on a disk");
    const protocol::Duration lease = options.config.timing.lease;
    const std::string takes =
        fmt::format("fsync() takes {} (the median of {})", protocol::to_text(*time), writes);
    if (time->ns > lease.ns / 4)
        findings.warn(subject,
                      takes + ", more than a quarter of the lease of " + protocol::to_text(lease),
                      "take a faster disk, or a longer --lease on all members");
    else
        findings.ok(subject, takes);
}

DirectorySight check_state(const std::string& subject, const NodeOptions& options,
                           Findings& findings) {
    const StateIdentity identity{options.config.cluster, options.config.self};
    auto sight = StateDirectory::look_at(options.data_dir, identity);
    if (!sight) {
        findings.fail(subject, sight.error(), "see bullring-troubleshooting(7)");
        return {};
    }
    if (sight->in_use)
        findings.note(subject, *sight->in_use);
    else
        findings.ok(subject, sight->state ? "the state in it is sound and this member's"
                                          : "no node has left a state in it yet");
    return {sight->in_use.has_value(), known_by(sight->state, options)};
}

}  // namespace

DirectorySight check_directory(const NodeOptions& options, Findings& findings) {
    const std::string subject = "data directory " + options.data_dir;
    const std::filesystem::path there = nearest_there(options.data_dir);
    std::error_code ignored;
    if (!std::filesystem::is_directory(there, ignored)) {
        findings.fail(subject, there.string() + " is no directory", "give another --data-dir");
        return {};
    }
    if (::access(there.c_str(), R_OK | W_OK | X_OK) != 0) {
        findings.fail(subject, fmt::format("{} can't be written: {}", there.string(), reason()),
                      "make it writable for this node's user, or give another --data-dir");
        return {};
    }
    const bool exists = there == std::filesystem::path(options.data_dir);
    DirectorySight sight;
    if (exists)
        sight = check_state(subject, options, findings);
    else
        findings.ok(subject, "it will be made in " + there.string());
    check_disk(subject, options, there, findings);
    return sight;
}

}  // namespace bullring::doctor
