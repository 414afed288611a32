"""Asks one node's /leader without a pause and writes when it said 200.

Usage: leader_prober.py PORT

One line for each epoch, at the end (SIGTERM): EPOCH FIRST LAST COUNT. The node led in that epoch at
an instant before FIRST, when its first answer had come, and at one after LAST, when its last answer
was asked for; a lease is not interrupted within an epoch, so it led from FIRST to LAST.
CLOCK_BOOTTIME, in nanoseconds.
"""

import json
import signal
import sys
import time

from harness.events import now_ns
from harness.http import connect

ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
led = {}
connection = None
while not ended:
    try:
        if connection is None:
            connection = connect(int(sys.argv[1]), timeout=5)
        asked_ns = now_ns()
        connection.request("GET", "/leader")
        answer = connection.getresponse()
        body = answer.read()
        answered_ns = now_ns()
    except OSError:
        connection = None
        time.sleep(0.001)  # pause: nobody listens there
        continue
    except Exception:  # what http.client says of an answer that was cut off
        connection = None
        continue
    if answer.status == 200:
        epoch = json.loads(body)["epoch"]
        first, _, count = led.get(epoch, (answered_ns, 0, 0))
        led[epoch] = (first, asked_ns, count + 1)
for epoch, (first, last, count) in led.items():
    print(epoch, first, last, count)
