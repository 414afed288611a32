#!/usr/bin/env python3
"""A process that leads through a node, again and again, by the Python package.

Usage: attached_worker.py DATA-DIR NUMBER EVENTS LAST STALL PAUSE ON-LOSS

EVENTS gets the lines that bullring-audit(1) describes under LOGS OF CLIENTS, NUMBER as `node`.
LAST is a file of two numbers of 64 bits: the epoch that it has led in, and the last instant at
which it led; when it is killed, that is known from there.
It leads by every instant that the page gives it: it asks valid() each PAUSE seconds, or all the
time if that is 0, and heeds nothing else. STALL: seconds without progress, after which the
leadership is taken from it; 0: never. ON-LOSS: as in the package. SIGUSR1: it forks and ends; the
child keeps the connection.
"""

import datetime
import json
import mmap
import os
import pathlib
import signal
import struct
import sys
import time

import bullring

AGAIN_S = 0.02


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Log:
    def __init__(self, path, number):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.number = number
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self.say("started", now_ns(), quorum="majority", peers=[], boot=boot)

    def say(self, event, ts_ns, **more):
        at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds")
        line = {"ts_ns": ts_ns, "time": at.replace("+00:00", "Z"), "node": self.number}
        os.write(self.file, (json.dumps({**line, "event": event, **more}) + "\n").encode())


class Worker:
    def __init__(self, where, number, events, last, stall, pause, on_loss):
        self.where = where
        self.log = Log(events, int(number))
        with open(last, "r+b") as file:
            self.last = mmap.mmap(file.fileno(), 16)
        self.wishes = {"stall_after": float(stall) or None, "on_loss": on_loss}
        self.pause = float(pause)
        self.campaign = None

    def run(self):
        while True:
            self.campaign = bullring.lead(self.where, **self.wishes)
            try:
                with self.campaign as lead:
                    self.work(lead)
            except bullring.NotAvailable:
                time.sleep(AGAIN_S)  # pause: its node is started anew

    def work(self, lead):
        """From the first to the last instant at which it leads; the clock is read before valid(),
        so that a pause between the two makes that time shorter and not longer."""
        led_ns = 0
        while True:
            now = now_ns()
            if not lead.valid():
                break
            self.last[:] = struct.pack("=QQ", lead.epoch, now)
            if not led_ns:
                self.log.say("elected", now, epoch=lead.epoch)
            led_ns = now
            lead.progress()
            if self.pause:
                time.sleep(self.pause)  # pause: it works
        if led_ns:
            reason = lead.reason or "lease_expired"
            held = {"epoch": lead.epoch, "reason": reason, "held_until_ns": led_ns}
            self.log.say("deposed", now, **held)

    def fork(self, *_):
        """The package closes its own copy of the connection in a child."""
        connection = self.campaign and self.campaign._connection
        kept = connection and os.dup(connection.fileno())
        child = os.fork()
        if child:
            self.log.say("forked", now_ns(), child=child)
            os._exit(0)
        while kept is not None:
            signal.pause()


def main():
    worker = Worker(*sys.argv[1:])
    signal.signal(signal.SIGUSR1, worker.fork)
    worker.run()


if __name__ == "__main__":
    main()
