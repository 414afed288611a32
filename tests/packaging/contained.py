#!/usr/bin/env python3
"""Becomes what a container runs: as the first process of its namespaces, which `unshare` has made.

Usage: contained.py JSON    with the fields of containers.Container.start
"""

import ctypes
import json
import os
import platform
import shutil
import socket
import sys

from harness import system_calls
from harness.system_calls import MS_BIND, MS_PRIVATE, MS_RDONLY, MS_REC, MS_REMOUNT

DEVICES = ("full", "null", "random", "urandom", "zero")
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[platform.machine()]
CAPBSET_DROP, SET_NO_NEW_PRIVS = 24, 38


def set_up(wish):
    """The root and what is mounted in it; afterwards it is `/`."""
    root = wish["root"]
    system_calls.mount(None, "/", None, MS_REC | MS_PRIVATE)
    system_calls.mount(root, root, None, MS_BIND)
    system_calls.mount("proc", f"{root}/proc", "proc")
    system_calls.mount("tmpfs", f"{root}/dev", "tmpfs", 0, "mode=755,size=1m")
    for name in DEVICES:
        open(f"{root}/dev/{name}", "w").close()
        system_calls.mount(f"/dev/{name}", f"{root}/dev/{name}", None, MS_BIND)
    for inside, outside in wish["mounts"].items():
        system_calls.mount(outside, root + inside, None, MS_BIND)
    if wish["read_only"]:
        system_calls.mount(None, root, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
    os.chdir(root)
    system_calls.call(PIVOT_ROOT, b".", b".")
    system_calls.unmount(".")
    os.chdir("/")


def give_up_rights(wish):
    libc = ctypes.CDLL(None)
    dropped = range(64) if wish["drop_all"] else ()
    for capability in dropped:
        libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups(wish["groups"])
    os.setresgid(*[wish["group"]] * 3)
    os.setresuid(*[wish["user"]] * 3)
    if wish["no_new_privileges"]:
        libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def main():
    wish = json.loads(sys.argv[1])
    socket.sethostname(wish["hostname"])
    set_up(wish)
    give_up_rights(wish)
    program, path = wish["words"][0], wish["environment"]["PATH"]
    if (found := shutil.which(program, path=path)) is None:
        sys.exit(f"{program} is nowhere in {path}")
    os.execve(found, wish["words"], wish["environment"])


if __name__ == "__main__":
    main()
