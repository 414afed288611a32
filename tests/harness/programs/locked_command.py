#!/usr/bin/env python3
"""A leader's command for tests: takes an exclusive lock for as long as it, or a child of it, lives.

Usage: locked_command.py JOURNAL LOCK [WORD…]

Writes one line each into JOURNAL: `begin NODE EPOCH PID`, or `OVERLAP NODE EPOCH PID` when somebody
else has the lock; `left NODE EPOCH PID` of a child; `end NODE EPOCH STATUS` at SIGTERM. A line of
`begin` ends with the words that came from a file. Words:

    ignore      SIGTERM
    fork        a child that has left the process group, ignores SIGTERM and holds the lock, too
    group       one that has not left it
    early       whose process id is lower than its own: for a namespace of processes
    exit=N      end at once with N
    stop        stop itself
    progress=N  show progress N times, then no more
    close       all descriptors but that of the lock, those that it has inherited included
    fill        write to stdout until its reader takes no more, and wait for that for ever
    deaf        to SIGHUP
    from=FILE   and the words in this file
"""

import fcntl
import os
import signal
import sys
import time


def main():
    journal, lock, *words = sys.argv[1:]
    read = []
    for word in words:
        if word.startswith("from="):
            with open(word[5:]) as file:
                read += file.read().split()
    words += read
    who = f"{os.environ['BULLRING_NODE_ID']} {os.environ['BULLRING_EPOCH']}"
    out = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def say(*parts):
        os.write(out, (" ".join(map(str, parts)) + "\n").encode())

    held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("OVERLAP", who, os.getpid())
        return 1

    def end(number, frame):
        say("end", who, 7)
        os._exit(7)

    signal.signal(signal.SIGTERM, signal.SIG_IGN if "ignore" in words else end)
    if "deaf" in words:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    for word in ("fork", "group"):
        if word not in words:
            continue
        if "early" in words:
            with open("/proc/sys/kernel/ns_last_pid", "w") as last:
                last.write("299")
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if word == "fork":
                os.setsid()
                if os.fork() != 0:
                    os._exit(0)
            say("left", who, os.getpid())
            while True:
                signal.pause()
    say("begin", who, os.getpid(), *read)
    if "close" in words:
        os.closerange(0, held)
        os.closerange(held + 1, 1024)
    while "fill" in words:
        os.write(1, bytes(4096))
    for word in words:
        if word.startswith("exit="):
            return int(word[5:])
        if word == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if word.startswith("progress="):
            for _ in range(int(word[9:])):
                os.utime(os.environ["BULLRING_PROGRESS_FILE"])
                time.sleep(0.02)  # pause: it makes progress at this pace
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
