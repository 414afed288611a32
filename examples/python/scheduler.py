#!/usr/bin/env python3
"""Runs commands at fixed intervals, on exactly one of several machines: cron, or Celery's beat.

    scheduler.py TABLE [DATA-DIR]

Start it on each machine beside a `bullring node` (python3-bullring(7)). Each line of TABLE is
`SECONDS COMMAND`. A command runs at the multiples of its interval by the wall clock, one at a time,
in a shell, with the fencing token in BULLRING_EPOCH. An instant at which nobody leads is left out.
"""

import os
import subprocess
import sys
import time

import bullring


def read_table(path):
    with open(path, encoding="utf-8") as table:
        for line in table:
            if line.strip():
                seconds, command = line.split(None, 1)
                yield float(seconds), command.strip()


def run(command, lead):
    """To its end, or to that of the leadership: nothing of it may go on after that. If this process
    is killed, so is the shell, but not what that has started: begin a single command with exec."""
    environment = {**os.environ, "BULLRING_EPOCH": str(lead.epoch)}
    words = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", command]
    with subprocess.Popen(words, env=environment, start_new_session=True) as shell:
        try:
            while shell.poll() is None:
                if lead.wait(0.02):
                    return
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, 9)


def keep_time(table, lead):
    def next_at(seconds):
        return (time.time() // seconds + 1) * seconds

    due = [[next_at(seconds), seconds, command] for seconds, command in table]
    while True:
        entry = min(due)
        if lead.wait(max(entry[0] - time.time(), 0)):
            return
        run(entry[2], lead)
        entry[0] = next_at(entry[1])


def main():
    table = list(read_table(sys.argv[1]))
    bullring.run_while_leader(lambda lead: keep_time(table, lead), *sys.argv[2:3])


if __name__ == "__main__":
    main()
