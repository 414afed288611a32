#!/usr/bin/env python3
"""Writes a line when this node begins or ceases to be the lowest ID of a quorate membership.

    corosync_client.py NODE_ID

Its parent has put it into the node's network namespace, where the node's socket is. It waits for
the node to start, and ends when the connection to it does.
"""

import ctypes
import os
import sys
import threading

CS_OK, CS_DISPATCH_BLOCKING, CS_TRACK_CURRENT, CS_TRACK_CHANGES = 1, 3, 1, 2

NOTIFIED = ctypes.CFUNCTYPE(
    None,
    ctypes.c_uint64,
    ctypes.c_uint32,
    ctypes.c_uint64,
    ctypes.c_uint32,
    ctypes.POINTER(ctypes.c_uint32),
)


class Callbacks(ctypes.Structure):
    _fields_ = [("quorum_notify_fn", NOTIFIED)]


def main():
    own = int(sys.argv[1])
    lib = ctypes.CDLL("libquorum.so.5")
    state = None

    @NOTIFIED
    def on_quorum(_handle, quorate, _ring_seq, count, members):
        nonlocal state
        view = [members[index] for index in range(count)]
        now = "follows" if not quorate else "leads" if min(view) == own else "waits"
        if now != state:
            left = b"follows\n" if state == "leads" and now == "waits" else b""
            os.write(1, left + now.encode() + b"\n")
            state = now

    callbacks = Callbacks(on_quorum)
    handle, kind = ctypes.c_uint64(), ctypes.c_uint32()
    while (
        lib.quorum_initialize(ctypes.byref(handle), ctypes.byref(callbacks), ctypes.byref(kind))
        != CS_OK
    ):
        threading.Event().wait(0.02)
    lib.quorum_trackstart(handle, CS_TRACK_CURRENT | CS_TRACK_CHANGES)
    sys.exit(lib.quorum_dispatch(handle, CS_DISPATCH_BLOCKING) != CS_OK)


main()
