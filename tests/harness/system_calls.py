"""The few system calls that Python 3.9 does not have."""

import contextlib
import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY, MS_REMOUNT = 0x1, 0x20
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000

_LIBC = ctypes.CDLL(None, use_errno=True)


def _checked(returned, what):
    if returned != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags):
    _checked(_LIBC.unshare(flags), "unshare")


def mount(source, target, kind, flags=0, options=None):
    words = [word and str(word).encode() for word in (source, target, kind)]
    data = options and options.encode()
    _checked(_LIBC.mount(*words, ctypes.c_ulong(flags), data), f"mount {target}")


def call(number, *words):
    """A system call that the C library has no function for."""
    _checked(_LIBC.syscall(number, *words), f"system call {number}")


def unmount(target):
    """Now or when nobody uses it any more."""
    _checked(_LIBC.umount2(str(target).encode(), 2), f"umount {target}")


@contextlib.contextmanager
def inside(path):
    """The calling thread is in that network namespace; what it opens there stays there."""
    with open("/proc/thread-self/ns/net") as here, open(path) as there:
        _checked(_LIBC.setns(there.fileno(), CLONE_NEWNET), f"setns {path}")
        try:
            yield
        finally:
            _checked(_LIBC.setns(here.fileno(), CLONE_NEWNET), "setns back")
