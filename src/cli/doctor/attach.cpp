// Attached processes: whether they reach the node, and whether the group of --attach-group does.
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/os/local_socket.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/text/failure_text.hpp"
#include "src/base/text/text.hpp"
#include "src/cli/doctor/checks.hpp"
#include "src/settings/data_files.hpp"

namespace bullring::doctor {

namespace {

constexpr const char* flag = "attach-group";

/// Tried on a file that is nowhere: besides groups and capabilities a user namespace counts.
void check_may_give(gid_t group, Findings& findings) {
    const OwnedFd file(::memfd_create("bullring-doctor", MFD_CLOEXEC));
    if (::fchown(file.get(), static_cast<uid_t>(-1), group) == 0)
        return findings.ok(flag, "this user may give it the socket");
    findings.warn(flag, "this user can't give it the socket: " + reason_text(errno),
                  "make the node's user a member of that group; of a unit, make it its Group=, see "
                  "bullring-service(7)");
}

/// The node itself lets the group into a directory that nobody else may enter.
void check_may_enter(const std::string& directory, gid_t group, Findings& findings) {
    std::error_code ignored;
    std::filesystem::path path = std::filesystem::weakly_canonical(directory, ignored);
    for (bool its_own = true; path.has_relative_path(); its_own = false) {
        struct ::stat about {};
        const bool there = ::stat(path.c_str(), &about) == 0;
        const bool opened = its_own && (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
        const mode_t enters = about.st_gid == group ? S_IXGRP : S_IXOTH;
        if (there && !opened && (about.st_mode & enters) == 0)
            findings.warn(flag, "it may not enter " + path.string(),
                          "let it (chgrp, chmod g+x), or give a --data-dir elsewhere");
        path = path.parent_path();
    }
}

/// The first line of a connection; empty: none came in time.
std::string greeting_of(int socket, protocol::Duration patience) {
    pollfd one{socket, POLLIN, 0};
    std::array<char, 4096> bytes{};
    if (::poll(&one, 1, static_cast<int>(patience.ns / 1'000'000)) <= 0) return {};
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    const std::string all(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return all.substr(0, all.find('\n'));
}

void check_answer(const std::string& subject, const NodeOptions& options,
                  protocol::Duration patience, Findings& findings) {
    constexpr const char* remedy = "its log says why; see bullring-attach(7)";
    const auto socket = connect_locally(options.data_dir, attach_socket_name, SOCK_STREAM);
    if (!socket)
        return findings.warn(subject, "no process can attach: " + reason_text(socket.error()),
                             remedy);
    const std::string line = greeting_of(socket->get(), patience);
    if (line.find("\"attached\"") == std::string::npos)
        return findings.warn(
            subject, line.empty() ? "nobody answers there" : "it answers " + in_quotes(line),
            remedy);
    struct ::stat about {};
    const std::string path = options.data_dir + "/" + attach_socket_name;
    if (::stat(path.c_str(), &about) != 0) about = {};
    const mode_t mode = about.st_mode & ACCESSPERMS;
    const auto& group = options.attach.group;
    const bool as_started =
        mode == (group ? 0660U : 0600U) && (!group || about.st_gid == group->id);
    if (as_started) return findings.ok(subject, "processes may attach");
    findings.warn(subject,
                  fmt::format("its mode is {:04o} and its group {}, other than with {}", mode,
                              about.st_gid, group ? "this --attach-group" : "no --attach-group"),
                  "restart the node, which makes the socket anew");
}

}  // namespace

void check_attach(const DoctorOptions& subject, const NodeOptions& options, bool runs,
                  protocol::Duration patience, Findings& findings) {
    if (options.attach.mode == AttachMode::off) return;
    const std::string path = options.data_dir + "/" + attach_socket_name;
    if (const auto& group = options.attach.group) {
        check_may_give(group->id, findings);
        if (!subject.is_made(options.data_dir))
            check_may_enter(options.data_dir, group->id, findings);
    }
    if (path.size() >= sizeof(sockaddr_un::sun_path))
        findings.note(attach_socket_name,
                      "its path is too long for an address: clients need one by way of its "
                      "directory, such as /proc/self/fd/N, or a symbolic link");
    if (runs) check_answer(path, options, patience, findings);
}

}  // namespace bullring::doctor
