#include "src/base/os/record_socket.hpp"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace bullring {

bool send_record(int socket, const void* record, std::size_t bytes, int descriptor) {
    iovec part{const_cast<void*>(record), bytes};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(bytes);
}

int receive_record(int socket, void* record, std::size_t bytes, OwnedFd& descriptor) {
    iovec part{record, bytes};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count = 0;
    do {
        count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return errno == ECONNRESET ? 0 : -1;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        int received = -1;
        std::memcpy(&received, CMSG_DATA(header), sizeof received);
        descriptor = OwnedFd(received);
    }
    if (count == 0) return 0;
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
        errno = EMFILE;
        return -1;
    }
    return count == static_cast<ssize_t>(bytes) ? 1 : -1;
}

}  // namespace bullring
