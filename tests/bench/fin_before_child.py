#!/usr/bin/env python3
"""How often a child outlives the FIN of its killed parent's connection, although the kernel kills
it with its parent (PR_SET_PDEATHSIG): why nothing of `bullring run` is tied to sessions.

Usage: fin_before_child.py [KILLS]     (default 500)
"""

import ctypes
import os
import select
import signal
import socket
import sys
import time

_PR_SET_PDEATHSIG = 1


def one_kill(listener, libc):
    """For how long the child was alive after FIN, in ms; 0 when it was dead by then."""
    told, tell = os.pipe()
    parent = os.fork()
    if parent == 0:
        connection = socket.create_connection(listener.getsockname())
        owner = os.getpid()
        child = os.fork()
        if child == 0:
            connection.close()
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == owner:
                os.write(tell, f"{os.getpid()}\n".encode())
            signal.pause()
        signal.pause()
    accepted, _ = listener.accept()
    child = int(os.read(told, 32))
    handle = os.pidfd_open(child)
    os.kill(parent, signal.SIGKILL)
    accepted.recv(1)  # FIN
    fin = time.monotonic()
    outlives = not select.select([handle], [], [], 0)[0]
    select.select([handle], [], [])
    dead = time.monotonic()
    os.waitpid(parent, 0)
    for descriptor in (handle, told, tell):
        os.close(descriptor)
    accepted.close()
    return (dead - fin) * 1000 if outlives else 0.0


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    libc = ctypes.CDLL(None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        times = [one_kill(listener, libc) for _ in range(kills)]
    outlived = [time for time in times if time > 0]
    print(f"{len(outlived)} of {kills} children outlived FIN, by at most {max(times):.2f} ms")


if __name__ == "__main__":
    main()
