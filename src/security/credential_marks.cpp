#include "src/security/credential_marks.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace bullring {

namespace {

/// The time of the last change of the inode is there for what leaves all the others as they were:
/// another owner or mode, or a time of writing that has been set by hand.
std::string mark_of(const std::string& file) {
    struct stat about {};
    if (file.empty() || ::stat(file.c_str(), &about) != 0) return {};
    return fmt::format("{}:{}:{}:{}.{}:{}.{}", about.st_dev, about.st_ino, about.st_size,
                       about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_ctim.tv_sec,
                       about.st_ctim.tv_nsec);
}

}  // namespace

CredentialMarks marks_of(const SecurityOptions& options) {
    return {mark_of(options.key_file),         mark_of(options.observer_key_file),
            mark_of(options.certificate_file), mark_of(options.private_key_file),
            mark_of(options.ca_file),          mark_of(options.crl_file)};
}

}  // namespace bullring
