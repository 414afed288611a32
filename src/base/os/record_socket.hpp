// Owns: how records travel between processes of one program: one a packet on a local socket, with
// a descriptor attached where one is needed. A record is the bytes of a struct. By system calls
// alone, and so fit for every process.
#pragma once

#include <cstddef>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// False with errno. Never waits.
bool send_record(int socket, const void* record, std::size_t bytes, int descriptor = -1);
/// 1: received; 0: the other end is gone; -1: nothing there, or an error (errno; EMFILE: there was
/// no room for the descriptor that came along, and the record is lost with it). Never waits.
int receive_record(int socket, void* record, std::size_t bytes, OwnedFd& descriptor);

}  // namespace bullring
