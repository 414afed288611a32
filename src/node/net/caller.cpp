#include "src/node/net/caller.hpp"

#include <sys/socket.h>

#include "src/base/os/tcp.hpp"

namespace bullring {

namespace {

bool is_unix_socket(int socket) {
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
           own.ss_family == AF_UNIX;
}

}  // namespace

Caller caller_at(int socket) {
    if (!is_unix_socket(socket)) return {"", "", tcp::addresses_of(socket).remote, false};
    ucred who{};
    socklen_t size = sizeof who;
    const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    return {known ? "user " + std::to_string(who.uid) : "", "", "this machine"};
}

std::string to_text(const Caller& caller) {
    std::string text = caller.by.empty() ? "somebody" : caller.by;
    if (!caller.credential.empty()) text += ", by " + caller.credential + ",";
    return text + (caller.from.rfind("this ", 0) == 0 ? " on " : " at ") + caller.from;
}

}  // namespace bullring
