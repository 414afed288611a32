#include "src/base/os/socket_error.hpp"

#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace bullring {

namespace {

/// Not by the error's number: some leave the connection standing (ENOBUFS), and closing it then
/// would release a lease that is held.
bool in_error_state(int socket) {
    tcp_info info{};
    socklen_t length = sizeof info;
    return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_state == TCP_CLOSE;
}

}  // namespace

IoResult socket_failure(int socket, int error) {
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)
        return {IoStatus::would_block, 0};
    if (!in_error_state(socket)) return {IoStatus::unusable, 0};
    if (error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH) {
        return {IoStatus::timeout, 0};
    }
    return {IoStatus::reset, 0};
}

}  // namespace bullring
