#include "src/base/os/peer_process.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bullring {

namespace {

constexpr int peer_pidfd_option = 77;  // SO_PEERPIDFD, which the headers of Debian 12 lack

std::string text_of(pid_t pid, const char* file) {
    std::ifstream in(fmt::format("/proc/{}/{}", pid, file));
    return {std::istreambuf_iterator<char>(in), {}};
}

/// In ticks from the start of the machine; 0: there is no such process.
std::uint64_t start_of(pid_t pid) {
    constexpr int fields_before = 19;  // behind the name, which may have blanks and brackets
    const std::string stat = text_of(pid, "stat");
    std::size_t at = stat.rfind(')');
    for (int field = 0; field <= fields_before && at != std::string::npos; ++field)
        at = stat.find(' ', at + 1);
    return at == std::string::npos ? 0 : std::strtoull(stat.c_str() + at, nullptr, 10);
}

OwnedFd process_of(int socket) {
    int process = -1;
    socklen_t bytes = sizeof process;
    if (::getsockopt(socket, SOL_SOCKET, peer_pidfd_option, &process, &bytes) != 0)
        return OwnedFd();
    return OwnedFd(process);
}

/// The number may have been given to another one between the two looks at it.
OwnedFd process_with(pid_t pid) {
    const std::uint64_t start = start_of(pid);
    OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (start == 0 || start != start_of(pid)) return OwnedFd();
    return process;
}

}  // namespace

PeerProcess peer_of(int socket, bool without_descriptor) {
    PeerProcess peer;
    ucred credentials{};
    socklen_t bytes = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) == 0)
        peer.pid = credentials.pid;
    if (!without_descriptor) peer.process = process_of(socket);
    if (peer.pid <= 0) return peer;
    if (!peer.process) peer.process = process_with(peer.pid);
    peer.name = text_of(peer.pid, "comm");
    if (!peer.name.empty() && peer.name.back() == '\n') peer.name.pop_back();
    return peer;
}

}  // namespace bullring
