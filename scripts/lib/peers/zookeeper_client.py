#!/usr/bin/env python3
"""Contends for a leadership by kazoo's election recipe and writes a line when it changes.

    zookeeper_client.py HOSTS SESSION_SECONDS

It is careful: without a connection it does not lead, though its session may still hold. When the
session is lost it ends. SIGTERM closes the session: a handover.
"""

import os
import signal
import sys
import threading

from kazoo.client import KazooClient, KazooState


def main():
    hosts, session_s = sys.argv[1], float(sys.argv[2])
    client = KazooClient(
        hosts=hosts, timeout=session_s, connection_retry={"max_tries": -1, "max_delay": 0.5}
    )
    over = threading.Event()
    holding = False

    def say(line):
        os.write(1, f"{line}\n".encode())

    def on_state(state):
        if state == KazooState.LOST:
            if over.is_set():
                return
            os._exit(1)
        if holding:
            say("leads" if state == KazooState.CONNECTED else "follows")

    def lead():
        nonlocal holding
        holding = True
        say("leads")
        over.wait()

    def on_sigterm(*_):
        over.set()
        client.stop()
        os._exit(0)

    signal.signal(signal.SIGTERM, on_sigterm)
    client.add_listener(on_state)
    client.start(timeout=60)
    election = client.Election("/bench", str(os.getpid()))
    threading.Thread(target=election.run, args=(lead,), daemon=True).start()
    while not any(str(os.getpid()) in name for name in election.contenders()):
        threading.Event().wait(0.02)
    if not holding:
        say("waits")
    threading.Event().wait()


main()
