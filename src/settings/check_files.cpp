#include "src/settings/check_files.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/text/text.hpp"
#include "src/settings/data_files.hpp"

namespace bullring {

namespace {

namespace fs = std::filesystem;

std::optional<struct stat> stat_of(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return std::nullopt;
    return about;
}

/// Where a file would be made: also by way of a link to one that is not there yet.
fs::path target_of(fs::path path) {
    constexpr int links_max = 40;  // as the kernel follows
    std::error_code error;
    path = fs::absolute(path, error);
    for (int i = 0; i < links_max && fs::is_symlink(path, error); ++i)
        path = path.parent_path() / fs::read_symlink(path, error);
    return fs::weakly_canonical(path, error);
}

/// Devices, and FIFOs, may serve several.
bool is_same_file(const std::string& one, const std::string& other) {
    const auto a = stat_of(one);
    const auto b = stat_of(other);
    if (a.has_value() != b.has_value()) return false;
    if (!a) return target_of(one) == target_of(other);
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           (S_ISREG(a->st_mode) || S_ISSOCK(a->st_mode));
}

struct NamedFile {
    const char* flag;
    std::string path;
};
using NamedFiles = std::vector<NamedFile>;

/// Those that are read, and those that are written before.
NamedFiles read_files(const NodeOptions& options, const std::string& config) {
    const SecurityOptions& security = options.security;
    return {{"config", config},
            {"key-file", security.key_file},
            {"observer-key-file", security.observer_key_file},
            {"tls-cert", security.certificate_file},
            {"tls-key", security.private_key_file},
            {"tls-ca", security.ca_file},
            {"tls-crl", security.crl_file},
            {"http-token-file", options.http.token_file}};
}

/// The directory belongs to whoever has mounted it, as a volume of a container does, whose mode may
/// be 0777 and which nobody else sees.
bool is_mounted(const std::string& directory, const struct stat& about) {
    const auto above = stat_of(directory + "/..");
    return !above || above->st_dev != about.st_dev || above->st_ino == about.st_ino;
}

/// The mode with which others may change it.
std::optional<unsigned> loose_mode(const std::string& path) {
    const auto about = stat_of(path);
    if (!about || !(S_ISREG(about->st_mode) || S_ISDIR(about->st_mode))) return std::nullopt;
    // A user's own group has the user's number.
    const gid_t group = about->st_gid;
    const bool own_group =
        group == 0 || group == about->st_uid || group == ::getegid() || ::group_member(group) != 0;
    if ((about->st_mode & (own_group ? S_IWOTH : S_IWOTH | S_IWGRP)) == 0) return std::nullopt;
    if (S_ISDIR(about->st_mode) && ((about->st_mode & S_ISVTX) != 0 || is_mounted(path, *about)))
        return std::nullopt;
    return about->st_mode & 07777U;
}

}  // namespace

void check_written_files(const NodeOptions& options, const std::string& config, Report& report) {
    NamedFiles others = read_files(options, config);
    for (const auto& [flag, path] : NamedFiles{{"events", options.events_file},
                                               {"trace", options.trace_file},
                                               {"http", options.http.socket}}) {
        if (path.empty() || path == "-") continue;
        for (const char* const name : data_file_names)
            if (!options.data_dir.empty() && is_same_file(path, options.data_dir + "/" + name))
                report.refuse(flag, path,
                              fmt::format("is the file {} of the data directory {}; expected a "
                                          "file of its own",
                                          name, options.data_dir));
        for (const NamedFile& other : others)
            if (!other.path.empty() && is_same_file(path, other.path))
                report.refuse(flag, path,
                              fmt::format("is the file of {}; expected a file of its own",
                                          report.flag(other.flag)));
        others.push_back({flag, path});
    }
}

void note_loose_files(NodeOptions& options, const std::string& config) {
    const auto note = [&](std::string subject, const std::string& path, const char* mode) {
        if (const auto loose = loose_mode(path))
            options.loose_files.push_back(
                {std::move(subject),
                 fmt::format("it can be changed by others than its owner (mode {:04o}), who so "
                             "decide what this node does",
                             *loose),
                 fmt::format("let its owner alone do that (chmod {})", mode)});
    };
    if (options.config.quorum == protocol::QuorumMode::majority && !options.data_dir.empty())
        note("data directory " + options.data_dir, options.data_dir, "700");
    if (!config.empty()) note("config " + config, config, "644");
}

}  // namespace bullring
