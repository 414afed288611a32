#include "src/task/supervisor/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

namespace {

OwnedFd open_terminal() { return OwnedFd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)); }

}  // namespace

bool give_terminal(pid_t owner, pid_t group) {
    const OwnedFd terminal = open_terminal();
    return terminal && ::tcgetpgrp(terminal.get()) == owner &&
           ::tcsetpgrp(terminal.get(), group) == 0;
}

void take_terminal_back(pid_t owner) {
    const OwnedFd terminal = open_terminal();
    if (terminal) ::tcsetpgrp(terminal.get(), owner);
}

}  // namespace bullring
