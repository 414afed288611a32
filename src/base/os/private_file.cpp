#include "src/base/os/private_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"
#include "src/base/text/text_encoding.hpp"

namespace bullring {

namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

NotWritten not_written(int error) {
    return {error == EEXIST, "cannot be written: " + text_of(error)};
}

tl::unexpected<NotRead> unreadable(int error) {
    return tl::unexpected(NotRead{"cannot be read: " + text_of(error), true});
}

tl::unexpected<NotRead> refused(std::string why) { return tl::unexpected(NotRead{std::move(why)}); }

struct Opened {
    OwnedFd file;
    struct stat about {};
};

tl::expected<Opened, NotRead> open_regular(const std::string& path) {
    Opened opened;
    // A FIFO must not make the program wait.
    opened.file = OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!opened.file || ::fstat(opened.file.get(), &opened.about) != 0) return unreadable(errno);
    if (!S_ISREG(opened.about.st_mode)) return refused("is not a regular file");
    return opened;
}

tl::expected<SecretText, NotRead> read_all(int file, std::size_t bytes_max) {
    // Read in one place: nothing of it is left in a buffer that has become too small.
    std::string text(bytes_max + 1, '\0');
    std::size_t size = 0;
    int error = 0;
    while (size < text.size()) {
        const ssize_t count = ::read(file, text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) error = errno;
        if (count <= 0) break;
        size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    SecretText secret(std::move(text));
    if (error != 0) return unreadable(error);
    if (size > bytes_max)
        return refused(fmt::format("is longer than {} bytes, which is too long", bytes_max));
    // As a full disk, a power cut, or a program that is about to write it, leaves one.
    if (size == 0) return tl::unexpected(NotRead{is_empty, true});
    if (is_utf16(secret.view())) return refused(not_utf8);
    const std::string_view bare = without_mark(secret.view());
    if (bare.size() == size) return secret;
    return SecretText(std::string(bare));
}

/// 0 or what errno was.
int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : ENOSPC;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

int finish(int file, std::string_view text, mode_t mode) {
    // The umask does not count: a file with a secret has the mode that was asked for.
    if (::fchmod(file, mode) != 0) return errno;
    if (const int error = write_all(file, text); error != 0) return error;
    return ::fsync(file) == 0 ? 0 : errno;
}

/// Names are on the disk with their directory. Where that can't be asked for, they will be later.
void sync_directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const OwnedFd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened) ::fsync(opened.get());
}

}  // namespace

SecretText& SecretText::operator=(SecretText&& other) noexcept {
    if (this == &other) return *this;
    wipe();
    text_ = std::move(other.text_);
    other.wipe();
    return *this;
}

void SecretText::wipe() {
    // The bytes behind the end may have been a part of the secret.
    text_.resize(text_.capacity());
    ::explicit_bzero(text_.data(), text_.size());
    text_.clear();
}

tl::expected<std::string, NotRead> read_regular_file(const std::string& path,
                                                     std::size_t bytes_max) {
    const auto opened = open_regular(path);
    if (!opened) return tl::unexpected(opened.error());
    const struct stat& about = opened->about;
    const mode_t of_others = about.st_gid == 0 ? S_IWOTH : S_IWGRP | S_IWOTH;
    if ((about.st_mode & of_others) != 0)
        return refused(
            fmt::format("can be changed by others than its owner (mode {:04o}); expected a file "
                        "that its owner alone can change (chmod 644)",
                        about.st_mode & 07777U));
    auto text = read_all(opened->file.get(), bytes_max);
    if (!text) return tl::unexpected(text.error());
    return std::string(text->view());
}

tl::expected<SecretText, NotRead> read_private_file(const std::string& path,
                                                    std::size_t bytes_max) {
    const auto opened = open_regular(path);
    if (!opened) return tl::unexpected(opened.error());
    const struct stat& about = opened->about;
    const bool roots = about.st_uid == 0 || about.st_gid == 0;
    // The bits of the group are also the most that an access control list allows to anybody.
    const mode_t of_group = roots ? S_IWGRP : S_IRGRP | S_IWGRP;
    if ((about.st_mode & (of_group | S_IROTH | S_IWOTH)) != 0) {
        return refused(
            fmt::format("can be read or changed by others than its owner (mode {:04o}); expected a "
                        "file of its owner alone (chmod 600)",
                        about.st_mode & 07777U));
    }
    return read_all(opened->file.get(), bytes_max);
}

tl::expected<void, NotWritten> create_file(const std::string& path, std::string_view text,
                                           mode_t mode) {
    const OwnedFd file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & secret_mode));
    if (!file) return tl::unexpected(not_written(errno));
    if (const int error = finish(file.get(), text, mode); error != 0) {
        ::unlink(path.c_str());
        return tl::unexpected(not_written(error));
    }
    sync_directory_of(path);
    return {};
}

tl::expected<void, NotWritten> replace_file(const std::string& path, std::string_view text,
                                            mode_t mode) {
    // The target of a link is replaced, not the link.
    std::error_code missing;
    const std::filesystem::path found = std::filesystem::canonical(path, missing);
    const std::string target = missing ? path : found.string();
    struct stat before {};
    const bool replaces = ::stat(target.c_str(), &before) == 0;

    std::string temporary = target + ".XXXXXX";
    const OwnedFd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) return tl::unexpected(not_written(errno));
    int error = 0;
    if (replaces && ::fchown(file.get(), before.st_uid, before.st_gid) != 0) error = errno;
    if (error == 0) error = finish(file.get(), text, replaces ? before.st_mode & 0777U : mode);
    // Others that wait for their turn to change it get it once this one has been looked at.
    if (error == 0 && ::flock(file.get(), LOCK_EX) != 0) error = errno;
    if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        return tl::unexpected(not_written(error));
    }
    sync_directory_of(target);
    const auto opened = open_regular(target);
    const auto there = opened ? read_all(opened->file.get(), text.size())
                              : tl::expected<SecretText, NotRead>(tl::unexpect, NotRead{});
    if (!there || there->view() != text)
        return tl::unexpected(NotWritten{
            true, "has other contents than were written: another program changes it, too"});
    return {};
}

}  // namespace bullring
