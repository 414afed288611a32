"""A fault that a node can't go on with: the socket on which it accepts connections fails."""

import ctypes
import errno
import os
import socket
import stat

PIDFD_GETFD = 438  # pidfd_getfd(2), of which Python knows nothing


def break_listener(pid):
    """The socket on which it accepts connections fails from now on."""
    process = os.pidfd_open(pid)
    libc = ctypes.CDLL(None, use_errno=True)
    for entry in os.scandir(f"/proc/{pid}/fd"):
        fd = libc.syscall(PIDFD_GETFD, process, int(entry.name), 0)
        if fd < 0:
            assert ctypes.get_errno() == errno.EBADF  # closed meanwhile
            continue
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            os.close(fd)
            continue
        with socket.socket(fileno=fd) as duplicate:
            if duplicate.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                if duplicate.family != socket.AF_UNIX:
                    duplicate.shutdown(socket.SHUT_RDWR)
                    break
    os.close(process)
